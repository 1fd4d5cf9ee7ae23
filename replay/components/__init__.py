"""The hardware, one block a file: which stages its commands become and how long a stage lasts.

Every file has `EQUATIONS`: name → a function of (calibration, quantity) that gives nanoseconds as
an exact Fraction.
"""
