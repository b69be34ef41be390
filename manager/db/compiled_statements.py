"""Compiled statements, shared by all databases of one kind that a process opens.

SQLAlchemy compiles a statement once per engine. Its text depends only on the dialect and on what
the dialect learnt from the server (version, RETURNING, types), so a database that is opened again,
or a second one (restore, adopt, migrate), need not compile it again.

Invariant: two engines share a statement only if everything agrees that their dialects know.
"""

from __future__ import annotations

import threading
from collections.abc import Hashable, Iterator, MutableMapping
from functools import cached_property
from typing import Any, Final

import sqlalchemy as sa
from sqlalchemy.util import LRUCache

__all__ = ["STATEMENTS", "share_compiled"]

STATEMENTS: Final = 1000
"""Statements that are kept of one kind; the manager has about 700, of up to 50 KB each."""

Compiled = Any  # `sqlalchemy.engine.interfaces.Compiled`; the keys are SQLAlchemy's own
_LEARNT: Final = (bool, int, str, tuple, type(None))

_caches: Final[dict[Hashable, LRUCache[Any, Compiled]]] = {}
_lock: Final = threading.Lock()


def share_compiled(engine: sa.Engine) -> None:
    """Share the compiled statements of an engine with all engines of its kind."""
    engine.update_execution_options(compiled_cache=_SharedStatements(engine.dialect))


class _SharedStatements(MutableMapping[Any, Compiled]):
    """The compiled statements of one kind of database, as SQLAlchemy asks for them.

    The dialect is the first part of SQLAlchemy's key. Each engine has its own, so that part goes.
    """

    def __init__(self, dialect: sa.Dialect) -> None:
        self._dialect = dialect

    @cached_property
    def _statements(self) -> LRUCache[Any, Compiled]:
        # Asked for with the first statement: by then the dialect has met the server.
        with _lock:
            return _caches.setdefault(_kind_of(self._dialect), LRUCache(STATEMENTS))

    def __getitem__(self, key: Any) -> Compiled:
        return self._statements[self._without_dialect(key)]

    def get(self, key: Any, default: Any = None) -> Any:
        """Return a compiled statement, or the default."""
        return self._statements.get(self._without_dialect(key), default)

    def __setitem__(self, key: Any, compiled: Compiled) -> None:
        self._statements[self._without_dialect(key)] = compiled

    def __delitem__(self, key: Any) -> None:
        del self._statements[self._without_dialect(key)]

    def __iter__(self) -> Iterator[Any]:
        return ((self._dialect, *key) for key in self._statements)

    def __len__(self) -> int:
        return len(self._statements)

    def _without_dialect(self, key: Any) -> Any:
        assert key[0] is self._dialect, "a statement of another engine"
        return key[1:]


def _kind_of(dialect: sa.Dialect) -> Hashable:
    """Return what the text of statements depends on: the dialect, and all that it learnt."""
    learnt = {name: value for name, value in vars(dialect).items() if isinstance(value, _LEARNT)}
    return type(dialect), getattr(dialect.dbapi, "__name__", ""), frozenset(learnt.items())
