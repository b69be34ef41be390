"""Evenness of balancers: the source's experiment, a large fleet, fifty rounds of change."""
