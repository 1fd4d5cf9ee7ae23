# The C types of slack_pass.py, and nothing else. slack_pass.py runs without it, up to a hundred times slower.
cimport cython

cdef extern from *:
    """
    #ifndef KERNTAPE_SLACK_PASS_SHA256
    #define KERNTAPE_SLACK_PASS_SHA256 ""
    #endif
    """
    const char* _BUILT_FROM "KERNTAPE_SLACK_PASS_SHA256"

cdef int NONE

@cython.final
cdef class SlackPass:
    cdef const long long[::1] offsets, start_ps, end_ps, lag_ps
    cdef const int[::1] first, base, releaser, lag, pe
    cdef const signed char[::1] from_start
    cdef const int[::1] crossing_first, crossing_released, crossing_releaser, crossing_lag
    cdef int[::1] before, waiting
    cdef public long long[::1] slack_ps
    cdef int top
    cdef public int followed

    @cython.locals(at=int, stage=int, earlier=int)
    cpdef void link(self, const int[::1] served, const int[::1] engine, const signed char[::1] serves,
                    int place, int until) noexcept
    @cython.locals(waits=int, first=int, at=int, row=Py_ssize_t)
    cpdef void count(self, int stage, int until) noexcept
    @cython.locals(begun=int)
    cpdef void begin(self, int stage, int until, long long makespan_ps) noexcept
    @cython.locals(stage=int)
    cpdef void follow(self, int most) noexcept
    @cython.locals(first=int, at=int, row=Py_ssize_t, by=int, latest=cython.longlong,
                   happened=cython.longlong)
    cdef void pass_on(self, int stage) noexcept
    cdef inline void allow(self, int stage, long long slack_ps) noexcept
    cdef inline void push(self, int stage) noexcept
    @cython.locals(low=Py_ssize_t, high=Py_ssize_t, end=Py_ssize_t, middle=Py_ssize_t)
    cdef inline Py_ssize_t crossing(self, int stage) noexcept
    @cython.locals(later=Py_ssize_t)
    cdef inline Py_ssize_t next_crossing(self, Py_ssize_t row) noexcept
