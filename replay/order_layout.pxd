# The C types of order_layout.py, and nothing else. order_layout.py runs without it, up to a hundred times slower.
cimport cython

cdef extern from *:
    """
    #ifndef KERNTAPE_ORDER_LAYOUT_SHA256
    #define KERNTAPE_ORDER_LAYOUT_SHA256 ""
    #endif
    """
    const char* _BUILT_FROM "KERNTAPE_ORDER_LAYOUT_SHA256"

cdef int NONE

@cython.final
cdef class OrderMerge:
    cdef int stages, height
    cdef int[::1] served_next, missing, released, stack
    cdef long long[::1] offsets
    cdef public int[::1] order

    @cython.locals(place=int, stage=int, row=Py_ssize_t)
    cpdef void run(self) noexcept
    cdef void let_go(self, int stage) noexcept
    cdef void push(self, int stage) noexcept

@cython.final
cdef class OrderLayout:
    cdef public int stages, engines, slots
    cdef public int[::1] turn, lasting, ends_in, releases, read_from, after
    cdef int kept, free_count
    cdef Py_ssize_t row
    cdef int[::1] engine, lasts, slot, releaser, gap
    cdef long long[::1] offsets
    cdef int[::1] last_read, served, free

    @cython.locals(place=int, stage=int, row=Py_ssize_t)
    cpdef void run(self, int[::1] order) noexcept
    @cython.locals(begin=Py_ssize_t, row=Py_ssize_t)
    cdef void lay(self, int place, int stage) noexcept
    @cython.locals(engine=int, before=int)
    cdef int turn_of(self, int stage) noexcept
    cdef int take_slot(self) noexcept
    cdef void give_back(self, int slot) noexcept
