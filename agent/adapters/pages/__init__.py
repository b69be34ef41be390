"""Page workers: the work on pages in this process, or in child processes that a page may kill.

    inline.py       in this process, at once
    pool.py         in worker processes: batches, limits, replacement; start here
    process.py      one worker process as its parent sees it: two pipes and a counter
    worker_start.py starts worker processes; fork_server.py forks them, already imported
    child.py        the worker process itself
    wire.py         messages over the pipes
    suspects.py     hosts whose pages killed workers

Nothing is imported here: a worker must start with little more than the code it works with.
"""
