"""Runners of a pipeline: they place the partitions of modules and schedule them.

mailbox.py            messages that wait for one partition
partitions.py         partitions as the runner sees them; message -> key -> partition
in_process.py         all partitions in this process, one step at a time
crawl_loop.py         the same under asyncio: time, commits, a clean stop
loop_pauses.py        pauses of the event loop
event_gathering.py    batches events, so that the loop wakes less often
garbage_collection.py runs Python's collector while no request waits
"""
