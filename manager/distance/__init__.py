"""Distances between agents and hosts, and among agents: measured or marked as predicted.

`measured_distance` judges the sums of a probe or a crawl, `spread` keeps how much their lines
differ; `prediction` predicts unmeasured distances from `training_data`; `minimum_spanning_tree`
makes of all distances the tree along which agents exchange units. `distance_bounds` bounds an
agent's claims, `control_hosts` compares agents over a few hosts that all of them probe, `doubts`
finds claims that fit neither an agent's past nor the view of the others, `line_counts` finds
omitted or invented lines, `fetch_windows` the time of each right,
`clock_evidence` checks each claim by the manager's own clock, `clock_fit` all of them together.
"""
