"""What agents send in: bodies taken from the connection, logs and discoveries made of them.

`receiving` spools a body; `discovered` enters M2; `logs` takes M3, which `parsing` reads in a
child process of `workers`, judged by `sections` and the holdings of `manager.assignment`;
`uploads` takes segments, piece by piece, and `segments` those that came whole.

Nothing is imported here: a child would pay for all of it, and needs little.
"""
