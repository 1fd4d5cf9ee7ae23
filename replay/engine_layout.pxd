# The C types of engine_layout.py, and nothing else. engine_layout.py runs without it, up to a hundred times slower.
cimport cython

from kerntape.replay.engine_records cimport ReleaseFields, StageFields

cdef extern from *:
    """
    #ifndef KERNTAPE_ENGINE_LAYOUT_SHA256
    #define KERNTAPE_ENGINE_LAYOUT_SHA256 ""
    #endif
    """
    const char* _BUILT_FROM "KERNTAPE_ENGINE_LAYOUT_SHA256"

cdef int NONE

@cython.final
cdef class Layout:
    cdef Py_ssize_t stages
    cdef const signed char[::1] serves, from_start
    cdef const int[::1] engine, queue, releaser, lag_class
    cdef const long long[::1] offsets
    cdef int first_lag, rows_laid
    cdef StageFields[::1] stage
    cdef ReleaseFields[::1] row
    cdef int[::1] events, by_end, by_start

    @cython.locals(stage=Py_ssize_t, queue=Py_ssize_t)
    cdef void clear(self) noexcept
    @cython.locals(stage=Py_ssize_t, release=Py_ssize_t)
    cpdef void count(self, Py_ssize_t first, Py_ssize_t past) noexcept
    @cython.locals(stage=Py_ssize_t, engine=int, row=int)
    cpdef void lay_stages(self, Py_ssize_t first, Py_ssize_t past) noexcept
    @cython.locals(stage=Py_ssize_t, release=Py_ssize_t, releaser=Py_ssize_t, row=Py_ssize_t)
    cpdef void lay_releases(self, Py_ssize_t first, Py_ssize_t past) noexcept
