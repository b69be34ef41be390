"""Intake of what agents send: bodies, crawl logs (M3), discoveries (M2), uploads, messages.

`body_receiver` spools a body; `workers` read bodies in turns by sender, within limits
(`body_decoding`, `body_errors`); `logs`, `messages` and `uploads` enter what was read while the
sender is connected (`client_disconnect`). What it means is left to `manager.operations`.

Nothing is imported here: a child process would pay for all of it, and needs little.
"""
