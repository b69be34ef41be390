"""The only place where an agent is put together; `life` is where to begin reading.

running       lock, key, settings: may this process work here at all?
life          one life: everything side by side, and its end
pages         what works on pages; page_worker: the program of its processes
session       the crawl itself: ledger, adapters, modules and their loop
conversation  what the poller wants, done; watching: what must be looked at, looked at
reporting     from the ledger to the outbox; viewing: what is said of the agent
permission    whether a request may be sent, and if not, why
"""
