"""Collection as an agent sees it: orders taken, the sending process watched.

Sending is left to `agent.collection`, which runs in a separate process.
"""
