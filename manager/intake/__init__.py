"""What agents send in: bodies taken from the connection, logs and discoveries made of them.

`receiving` spools a body. `body_workers` are the processes that read bodies, in turns by sender
(`turn_queue`), within limits (`body_decoding`, `body_errors`): M2 by `discovered_reading`, M3 by
`parsing`, judged by `sections` and the holdings of `manager.assignment`, large syncs by
`message_reading`, lists of people by `list_checking`. `discovered` and `logs` enter what they read,
as long as the sender is there (`connected`). `uploads` takes segments, piece by piece, and
`segments` those that came whole. `workers` are processes for plans, distances and segments.

Nothing is imported here: a child would pay for all of it, and needs little.
"""
