"""Sweeps: lowered traces under thousands of calibrations, with every figure exact.

What is varied: axes, sampling, plan, planning. How a point is evaluated: class_times, figures; along a
recorded order: follower (over replay/order_pass.py), timed_figures, thrift, order_book; all together:
case_run. How a sweep is carried through: chunks, local_workers, journal, results_file, ranking, and
sweep, the one way in.
"""
