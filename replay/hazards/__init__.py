"""Hazards on the level of commands: what a policy holds back, what can go wrong, and what did.

`held.held_pairs` tells lowering which pairs of commands a policy orders; `potential.check_statically`
finds the pairs that nothing orders, whatever the calibration; `observed.observed_hazards` reads one
replay's times. All rest on the same accesses (accesses, signatures), the same comparisons
(conflicts, comparisons) and the same order of commands (ordering).
"""
