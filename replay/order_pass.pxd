# The C types of order_pass.py, and nothing else. order_pass.py runs without it, up to a hundred times slower.
cimport cython

cdef extern from *:
    """
    #ifndef KERNTAPE_ORDER_PASS_SHA256
    #define KERNTAPE_ORDER_PASS_SHA256 ""
    #endif
    """
    const char* _BUILT_FROM "KERNTAPE_ORDER_PASS_SHA256"

cdef int NONE
cdef int BLOCK

@cython.final
cdef class OrderPass:
    cdef int stages, engines
    cdef Py_ssize_t row
    cdef int[::1] turn, lasting, ends_in, releases, read_from, after
    cdef long long[::1] served_ready_ps, lasting_ps, after_ps
    cdef public long long[::1] end_ps, served_end_ps
    cdef public int[::1] broken
    cdef public int followed

    cpdef void run(self, long long[::1] lasting_ps, long long[::1] after_ps) noexcept
    @cython.locals(place=Py_ssize_t, lane=int)
    cdef void begin(self) noexcept
    @cython.locals(lane=int)
    cdef int holds_somewhere(self) noexcept
    @cython.locals(place=int, lane=int, ready=cython.longlong[8], early=cython.longlong[8])
    cdef void follow(self, int until) noexcept
    @cython.locals(lane=int, read=Py_ssize_t, after=Py_ssize_t, happens=cython.longlong)
    cdef inline void wait(self, int place, long long* ready) noexcept
    @cython.locals(lane=int, lasting=Py_ssize_t, end=Py_ssize_t)
    cdef inline void go_by(self, int place, long long* ready) noexcept
    @cython.locals(lane=int, later=cython.longlong, engine=Py_ssize_t, lasting=Py_ssize_t,
                   end=Py_ssize_t, start=cython.longlong, ends=cython.longlong)
    cdef inline void serve(self, int place, long long* ready, long long* early) noexcept

@cython.final
cdef class HeldTimes:
    cdef int stages
    cdef int[::1] begin, hold, read_from, after
    cdef long long[::1] end_ps, after_ps
    cdef public long long[::1] held_ps

    @cython.locals(lane=int, stage=int)
    cpdef void run(self, long long[::1] end_ps, long long[::1] after_ps) noexcept
    @cython.locals(lane=int, other=cython.longlong[8], held=cython.longlong[8])
    cdef void add(self, int stage) noexcept
    @cython.locals(lane=int, row=int, read=Py_ssize_t, after=Py_ssize_t, happens=cython.longlong)
    cdef inline void wait(self, int first, int until, long long* last) noexcept
