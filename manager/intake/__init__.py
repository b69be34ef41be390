"""Intake of data from agents: bodies, crawl logs (M3), discoveries (M2), uploads, messages.

`body_receiver` spools a body; `workers` read bodies in turns by sender, within limits
(`body_decoding`, `body_errors`); `logs`, `messages` and `uploads` enter the results while the
sender is connected (`client_disconnect`). The rules for the data are in `manager.operations`.

This module imports nothing: a child process would pay for all of it, and needs little.
"""
