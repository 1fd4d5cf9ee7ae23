# The C types of engine.py, and nothing else. engine.py runs without it, some hundred times slower.
cimport cython

cdef extern from *:
    """
    #ifndef KERNTAPE_ENGINE_SHA256
    #define KERNTAPE_ENGINE_SHA256 ""
    #endif
    """
    const char* _BUILT_FROM "KERNTAPE_ENGINE_SHA256"

cdef int NONE
cdef int FEW

@cython.final
cdef class Law:
    cdef public int stages, end_releases
    cdef int[::1] engine, queue, missing
    cdef long long[::1] queue_ps
    cdef long long[::1] end_offsets, start_offsets
    cdef int[::1] end_releaser, end_released, end_queue
    cdef int[::1] start_releaser, start_released, start_queue
    cdef public long long[::1] ready_ps, start_ps, end_ps
    cdef public int[::1] cause
    cdef long long now
    cdef int[::1] newly_ready, lanes
    cdef int newly_ready_count, lane_count
    cdef int[::1] next_waiting, first_waiting, last_waiting, serving, served, touched, is_touched
    cdef int touched_count
    cdef int[::1] next_event, first_event, last_event, heap_queue
    cdef long long[::1] heap_ps
    cdef int heap_size

    @cython.locals(stage=int)
    cpdef void run(self) noexcept
    @cython.locals(first=int, rest=int, following=int)
    cdef void take_due_events(self, int queue) noexcept
    @cython.locals(row=int)
    cdef void happen(self, int event) noexcept
    @cython.locals(engine=int, row=Py_ssize_t)
    cdef void end(self, int stage) noexcept
    cdef void release(self, int released, int releaser) noexcept
    cdef void become_ready(self, int stage) noexcept
    @cython.locals(stage=int)
    cdef void settle(self) noexcept
    @cython.locals(place=int, engine=int)
    cdef void arbitrate(self) noexcept
    @cython.locals(engine=int)
    cdef void line_up(self, int stage) noexcept
    cdef void touch(self, int engine) noexcept
    @cython.locals(stage=int)
    cdef void serve(self, int engine) noexcept
    @cython.locals(first_event=int, row=Py_ssize_t)
    cdef void start(self, int stage) noexcept
    @cython.locals(row=int, releaser=int)
    cdef long long due_ps(self, int event, int queue) noexcept
    cdef void append(self, int queue, int event) noexcept
    @cython.locals(parent=int)
    cdef void heap_rise(self, int place, int queue, long long due) noexcept
    @cython.locals(child=int)
    cdef void heap_sink(self, int place, int queue, long long due) noexcept
    cdef void heap_pop(self) noexcept
    @cython.locals(place=int, stage=int)
    cdef void sort_newly_ready(self) noexcept
    @cython.locals(count=int, root=int, last=int, stage=int)
    cdef void heap_sort_newly_ready(self) noexcept
    @cython.locals(child=int)
    cdef void sink_stage(self, int place, int count, int stage) noexcept
