# The records of engine_records.py as C structs, field for field.

cdef struct StageFields:
    int engine, queue, missing, cause, next_waiting, by_end, by_start
    long long ready_ps, end_ps

cdef struct ReleaseFields:
    int released, queue, releaser

cdef struct ServerFields:
    int first_waiting, last_waiting, serving, served, touched
