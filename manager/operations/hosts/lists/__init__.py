"""Lists of hosts that people import: their lines, those that are refused, and pins by hand.

Hosts that agents find are read by the same lines and taken by `discoveries`. The lists that agents
are given are left to `manager.operations.fleet`.
"""
