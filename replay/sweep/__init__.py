"""Sweeps: lowered traces under thousands of calibrations, with every figure exact.

What is varied: axes, sampling, plan, planning. How a point is evaluated: figures; along a recorded
order: order_recorder (over replay/order_layout.py), follower (over replay/order_pass.py) with gaps and
holds, timed_figures, thrift, order_book; all together: case_run. How a sweep is carried through: chunks,
local_workers or cluster_workers with cluster_client and cluster_task, journal, code_identity,
results_file, and sweep, the one way in. What the points say: cases, influence, and ranking with margins
and shares; cuts is how influence and shares part a number's values.
"""
