"""The way to the manager: what is said (`poller`), carried (`client`) and kept (`outbox`, `keys`).

`poller` decides without I/O, `client` is the one door to the network, `outbox` and `sending` see to
it that no report is lost, `manager_list` keeps M1, `memory` the numbers that must not be forgotten.
"""
