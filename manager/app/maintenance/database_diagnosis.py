"""The reason why a manager that does not serve cannot: its database, examined from outside."""

from __future__ import annotations

from contextlib import closing
from typing import Final

from manager.app.composition import layout_of
from manager.db import Database
from manager.settings import Settings
from shared.errors import PrsmError
from shared.messages import Message

__all__ = ["database_problem"]

EXAMINE_S: Final = 2.0


def database_problem(settings: Settings) -> Message | None:
    """Return the problem of the SQLite file of a manager; None: no problem is known.

    For commands that find no manager: they end anyway, so this never raises, and creates nothing.
    """
    path = layout_of(settings).database
    if settings.database.url or not path.is_file() or not path.stat().st_size:
        return None
    try:
        with closing(Database(f"sqlite:///{path}")) as db:
            db.examine(EXAMINE_S)
    except PrsmError as error:
        return error.message
    except OSError as error:
        return Message.of_text(str(error))
    return None
