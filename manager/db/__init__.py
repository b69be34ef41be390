"""The manager's database: tables, transactions, queries. No other package sees SQLAlchemy.

`engine` opens SQLite or PostgreSQL and gives transactions; `tables` defines the tables; each other
module holds the queries of one subject. A query takes a transaction first and the present time as
`now_ms` if it needs one; it returns dataclasses, never rows.
"""

from manager.db.engine import Database, Transaction

__all__ = ["Database", "Transaction"]
