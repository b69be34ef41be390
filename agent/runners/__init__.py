"""Runs a pipeline: where the partitions of a module live, and when they get their turn.

partition.py    message -> key -> partition
mailbox.py      what waits for one partition
in_process.py   all partitions in this process, one step at a time
pauses.py       for how long the event loop was held up
gathering.py    lets events gather, so that the loop is woken less often
crawl_loop.py   the same under asyncio: time, commits, a clean stop
"""
