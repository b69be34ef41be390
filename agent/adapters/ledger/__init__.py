"""Durable state of a crawl: SQLite, the open segment and the open crawl log, committed as one.

    ledger.py       `Ledger`'s real side: answers, and the commit that binds the three
    database.py     SQLite, with a transaction that survives a full disk
    schema.py       its tables
    jobs.py         orders on disk, numbers of jobs in memory
    queues.py       queues: an end in memory, blocks on disk
    journal.py      changes of queues and counters between two commits
    seen.py         the exact seen-sets
    backoff_rows.py addresses in back-off
    runs.py         known keys, sorted, on disk
    migration.py    migration from older versions
    segments.py     the open segment and the list of links beside it
    crawl_log.py    the open crawl log, and closed ones until they are delivered
    open_segment_name.py  the segment that the last commit names as open
    append_file.py  a file that grows, and is truncated to its committed bytes

Invariant: after kill -9 or a loss of power, `open` finds the state of the last commit: database,
segment, links and log agree, and later writes are gone from all of them together.
docs/adr/0004-one-commit-for-the-crawl.md says why, 0040 how.
"""

from agent.adapters.ledger.crawl_log import ClosedLog
from agent.adapters.ledger.database import Database
from agent.adapters.ledger.ledger import DATABASE, LedgerOptions, SqliteLedger
from agent.adapters.ledger.open_segment_name import named_segment

__all__ = ["DATABASE", "ClosedLog", "Database", "LedgerOptions", "SqliteLedger", "named_segment"]
