"""Sweeps: lowered traces under thousands of calibrations, with every figure exact.

What is varied: axes, sampling, plan, planning. How a point is evaluated: figures; along a recorded
order: order_recorder (over replay/order_layout.py), follower (over replay/order_pass.py) with gaps and
holds, timed_figures, thrift, order_book; all together: case_run. How a sweep is carried through: chunks,
local_workers or cluster_workers with cluster_client and cluster_task, journal, code_identity,
results_file, and sweep, the one way in. What the points say: cases; case_makespans with influence (of a
grid) and sample_fit over linear_fit (of samples); and ranking with margins and with shares over cuts.
"""
