# The C types of order_pass.py, and nothing else. order_pass.py runs without it, some hundred times slower.
cimport cython

cdef extern from *:
    """
    #ifndef KERNTAPE_ORDER_PASS_SHA256
    #define KERNTAPE_ORDER_PASS_SHA256 ""
    #endif
    """
    const char* _BUILT_FROM "KERNTAPE_ORDER_PASS_SHA256"

cdef int NONE
cdef int LANES

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
cdef class OrderPass:
    cdef int stages, engines
    cdef int[::1] engine, queue, releaser, gap, served
    cdef long long[::1] offsets, served_ready_ps
    cdef public long long[::1] end_ps, served_end_ps
    cdef public int[::1] broken
    cdef public int followed

    @cython.locals(place=int, stage=int)
    cpdef void run(self, int[::1] order, long long[::1] queue_ps, long long[::1] gap_ps) noexcept
    @cython.locals(engine=int, place=Py_ssize_t, lane=int)
    cdef void begin(self) noexcept
    @cython.locals(lane=int, lasting=cython.longlong)
    cdef void go_by(self, Py_ssize_t stage, long long[::1] queue_ps, long long[::1] gap_ps) noexcept
    @cython.locals(engine=Py_ssize_t, at=Py_ssize_t, lane=int, later=int, in_turn=int,
                   ready=cython.longlong, start=cython.longlong, end=cython.longlong)
    cdef int serve(self, Py_ssize_t stage, long long[::1] queue_ps, long long[::1] gap_ps) noexcept
    @cython.locals(row=Py_ssize_t, ready=cython.longlong, released=cython.longlong)
    cdef long long ready_ps(self, Py_ssize_t stage, int lane, long long[::1] gap_ps) noexcept
    @cython.locals(lane=int)
    cdef int holds_nowhere(self) noexcept
