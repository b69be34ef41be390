"""Probes, balancing plans and their application.

Orders probes, builds the balancing problem, makes, explains, applies and undoes plans. The
algorithms are left to `manager.balancing`, owners and rights to `ownership`.
"""
