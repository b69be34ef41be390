"""The work on pages: in this process, or in worker processes that a page may kill.

    inline.py     in this process, at once
    pool.py       in worker processes: batches, limits, replacement; start here
    process.py    one worker process as its parent sees it: two pipes and a counter
    launching.py  how one comes to be; nursery.py forks them, already imported
    child.py      the worker process itself
    wire.py       what crosses the pipes
    suspects.py   hosts whose pages killed workers

Nothing is imported here: a worker must start with little more than the code it works with.
"""
