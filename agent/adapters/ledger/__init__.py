"""The durable state of a crawl: SQLite, the open segment and the open crawl log, as one.

    ledger.py     `Ledger`'s real side: what is asked, and the commit that binds the three
    database.py   SQLite, with a transaction that survives a full disk
    schema.py     its tables
    jobs.py       orders on disk, numbers of jobs in memory
    queues.py     queues: an end in memory, blocks on disk
    journal.py    what happens to queues and counters between two commits
    seen.py       the exact seen-sets
    rests.py      addresses that are left alone for longer
    runs.py       known keys, sorted, on disk
    migration.py  from older versions
    segments.py   the open segment and the list of links beside it
    crawl_log.py  the open crawl log, and closed ones until they are handed on
    named.py      which segment the last commit calls open
    appended.py   a file that only grows, and is cut back to what was committed

Invariant: after kill -9 or a loss of power, `open` finds the state of the last commit: database,
segment, links and log agree, and what came later is gone from all of them together.
docs/adr/0004-one-commit-for-the-crawl.md says why, 0040 how.
"""

from agent.adapters.ledger.crawl_log import ClosedLog
from agent.adapters.ledger.database import Database
from agent.adapters.ledger.ledger import DATABASE, LedgerOptions, SqliteLedger
from agent.adapters.ledger.open_segment_name import named_segment

__all__ = ["DATABASE", "ClosedLog", "Database", "LedgerOptions", "SqliteLedger", "named_segment"]
