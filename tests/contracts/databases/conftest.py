"""Every test here runs on SQLite and again on PostgreSQL."""

from __future__ import annotations

from tests.postgres import database, database_url, postgres_server, sqlite_template

__all__ = ["database", "database_url", "postgres_server", "sqlite_template"]
