"""Durable state of a crawl: SQLite, the open segment and the open crawl log, committed as one.

    ledger.py        `SqliteLedger`: opens the parts, each of which carries out some methods
    commit.py        the commit that binds database, segment and log
    recovery.py      a ledger that is older than its files; the mark of the last commit
    ledger_state.py  the row that says how far everything is committed
    database.py      SQLite, with a transaction that survives a full disk
    schema.py        its tables; migration.py: from older versions
    jobs/            orders, counters and queues of jobs
    seen_sets/       known URLs
    backoff_rows.py  addresses in back-off
    segments.py      the open segment and the list of links beside it
    open_index.py    index of the open segment
    crawl_log.py     the open crawl log, and closed ones until they are delivered
    append_file.py   a file that grows, and is truncated to its committed bytes
    trash.py         files that no commit names

Invariant: after kill -9 or a loss of power, `open` finds the state of the last commit: database,
segment, links and log agree, and later writes are gone from all of them together.
docs/adr/0004 gives the reasons, 0040 the way.
"""

from agent.adapters.ledger.crawl_log import ClosedLog
from agent.adapters.ledger.database import DATABASE, Database
from agent.adapters.ledger.ledger import LedgerOptions, SqliteLedger
from agent.adapters.ledger.ledger_state import named_segment

__all__ = ["DATABASE", "ClosedLog", "Database", "LedgerOptions", "SqliteLedger", "named_segment"]
