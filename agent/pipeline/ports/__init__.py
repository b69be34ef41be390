"""Ports of the modules: their only access to network, disk and clock.

    clock.py          time
    network.py        requests, look-ups
    pages.py          work on pages, earlier captures
    ledger.py         the durable state of the crawl; its rows: ledger_rows.py
    reports.py        reports for the manager

Nothing here waits. A fetch, a look-up or the work on a page is started, and its completion arrives
at a module's input as a message. Durable stores take changes at once and make them durable
together, at the next `commit` of the ledger.
"""
