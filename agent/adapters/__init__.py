"""Adapters to the world: the only I/O of the agent's modules.

    clock.py         three clocks
    allocator.py     memory that the C library keeps
    dns.py           names to addresses, and this machine's routes to them
    curl/            requests, through libcurl on the event loop
    pages/           the work on pages, in worker processes
    ledger/          SQLite, the open segment and the open crawl log, in one commit
    last_captures.py the last whole capture of each URL
    body_memory.py   bytes of bodies in memory
    reports.py       reports for the manager, kept until delivered
    rules_file.py    rules of robots.txt that are not in memory

Invariant: adapters carry out and classify; they never decide what to fetch, when, or again.
"""
