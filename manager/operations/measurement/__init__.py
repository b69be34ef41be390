"""Measurements of agents: distances, volumes, claims and their review.

Turns sums of logs into distances, compares claims with other evidence, predicts unmeasured
distances. The logs themselves are left to `logs`, plans made from distances to `planning`.
"""
