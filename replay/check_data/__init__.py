"""Whether a replay's order of events still computes the right values, and where it first goes wrong.

`check.check_data` executes a timeline's stages twice on the kept inputs: in program order, which is
what the kernel means, and in the order of their times. `execution` says what a stage reads at its
start and what appears at its end; `program_order` and `time_order` say when; `first_wrong` tells why
a value differs; `report` says it all in words and as JSON.
"""
