"""Jobs and their queues: rows and blocks on disk, the states in use in memory, a journal between.

jobs.py        rows of jobs, and the states of those in use
job_orders.py  what is read of the rows alone
job_states.py  counters and levels of a queue
queues.py      waiting URLs: an end in memory, older ones in blocks
journal.py     lines of the journal, records of queued URLs
"""
