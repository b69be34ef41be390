"""The only place where an agent is put together; begin reading at `startup.composition`.

startup       lock, key, settings (`agent_run`), one life and its end (`composition`), page workers
session       the crawl itself: ledger, adapters, modules, their loop, and its supervision
manager_link  the poller's conversation carried out, and the permission to send a request now
reporting     from the ledger to the outbox; `agent_view`: the state shown to others
collection    collection orders taken, and the sending process started and watched
site          the site's hours and limits, and the checks of `prs doctor`
"""
