"""Where the crawl touches the world; the only I/O of the agent's modules.

    clock.py    three clocks
    memory.py   what the C library does with memory that is given back
    networks.py which addresses may be connected to
    dns/        names to addresses, through aiodns
    curl/       requests, through libcurl on the event loop
    pages/      the work on pages, in worker processes
    ledger/     SQLite, the open segment and the open crawl log, in one commit
    reports.py  what the manager must learn, kept until it knows

Invariant: adapters carry out and classify; they never decide what to fetch, when, or again.
"""
