# The C types of engine.py, and nothing else. engine.py runs without it, up to a hundred times slower.
cimport cython

from kerntape.replay.engine_records cimport ReleaseFields, ServerFields, StageFields

cdef extern from *:
    """
    #ifndef KERNTAPE_ENGINE_SHA256
    #define KERNTAPE_ENGINE_SHA256 ""
    #endif
    #ifdef __GNUC__
    /* Without the empty statement GCC takes a function that only fetches for one without effect. */
    #define KERNTAPE_FETCH(record) do { __builtin_prefetch(&(record)); __asm__ volatile (""); } while (0)
    #else
    #define KERNTAPE_FETCH(record) ((void)0)
    #endif
    """
    const char* _BUILT_FROM "KERNTAPE_ENGINE_SHA256"
    void _fetch_stage "KERNTAPE_FETCH" (StageFields record) noexcept
    void _fetch_row "KERNTAPE_FETCH" (ReleaseFields record) noexcept

cdef int NONE
cdef Py_ssize_t ENDS_AHEAD, ROWS_AHEAD, RECORDS_AHEAD, LEAST_AHEAD, MOST_AHEAD

@cython.final
cdef class Law:
    cdef Py_ssize_t stages
    cdef StageFields[::1] stage
    cdef ReleaseFields[::1] row
    cdef ServerFields[::1] server
    cdef const long long[::1] queue_ps
    cdef int[::1] touched, newly_ready, put_aside, next_due, past_due, ending, lagging, heap_queue
    cdef long long[::1] due_ps, heap_ps
    cdef long long now
    cdef Py_ssize_t lane, newly_ready_count, touched_count, ahead, wanted
    cdef int heap_size, first_lag
    cdef bint fetches

    @cython.locals(queue=Py_ssize_t, room=int)
    cdef int lay_queues(self, const int[::1] events, Py_ssize_t begin, Py_ssize_t end) noexcept
    @cython.locals(stage=Py_ssize_t)
    cpdef void begin(self) noexcept
    cpdef bint go_on(self, Py_ssize_t events) noexcept
    @cython.locals(stage=Py_ssize_t, end=cython.longlong)
    cpdef void take_times(self, Py_ssize_t first, Py_ssize_t past, long long[::1] ready_ps,
                          long long[::1] start_ps, long long[::1] end_ps, int[::1] cause) noexcept
    cdef void take_due_events(self, Py_ssize_t queue) noexcept
    @cython.locals(place=Py_ssize_t, past=Py_ssize_t)
    cdef void take_due_ends(self, Py_ssize_t queue) noexcept
    @cython.locals(place=Py_ssize_t, row=Py_ssize_t)
    cdef void take_due_releases(self, Py_ssize_t queue) noexcept
    @cython.locals(engine=Py_ssize_t, row=Py_ssize_t, queue=Py_ssize_t)
    cdef void end(self, Py_ssize_t stage) noexcept
    cdef void release(self, Py_ssize_t released, Py_ssize_t releaser) noexcept
    cdef void become_ready(self, Py_ssize_t stage) noexcept
    @cython.locals(stage=Py_ssize_t)
    cdef void settle(self) noexcept
    @cython.locals(place=Py_ssize_t, engine=Py_ssize_t)
    cdef void arbitrate(self) noexcept
    @cython.locals(engine=Py_ssize_t)
    cdef void line_up(self, Py_ssize_t stage) noexcept
    cdef void touch(self, Py_ssize_t engine) noexcept
    @cython.locals(stage=Py_ssize_t)
    cdef void serve(self, Py_ssize_t engine) noexcept
    @cython.locals(row=Py_ssize_t)
    cdef void start(self, Py_ssize_t stage) noexcept
    @cython.locals(queue=Py_ssize_t, place=Py_ssize_t)
    cdef void await_end(self, Py_ssize_t stage) noexcept
    @cython.locals(queue=Py_ssize_t, place=Py_ssize_t, due=cython.longlong)
    cdef void lag_behind(self, Py_ssize_t row) noexcept
    cdef void heap_push(self, int queue, long long due) noexcept
    @cython.locals(parent=int)
    cdef void heap_rise(self, int place, int queue, long long due) noexcept
    @cython.locals(child=int)
    cdef void heap_sink(self, int place, int queue, long long due) noexcept
    cdef void heap_pop(self) noexcept
    cdef void fetch_ends(self, Py_ssize_t place, Py_ssize_t past) noexcept
    cdef void fetch_along(self, Py_ssize_t stage) noexcept
    cdef void sort_newly_ready(self) noexcept
    @cython.locals(runs=Py_ssize_t, start=Py_ssize_t, middle=Py_ssize_t, end=Py_ssize_t)
    cdef Py_ssize_t merge_runs(self) noexcept
    cdef Py_ssize_t end_of_run(self, Py_ssize_t place) noexcept
    @cython.locals(aside=Py_ssize_t, place=Py_ssize_t, left=Py_ssize_t, right=Py_ssize_t)
    cdef void merge(self, Py_ssize_t start, Py_ssize_t middle, Py_ssize_t end) noexcept
