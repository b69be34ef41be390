"""Trash: files that no row named, by day; taken out again, or adopted with the rest."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from starlette.responses import Response

from manager.console.language import _, lazy, ngettext
from manager.console.requests.page import Page
from manager.console.requests.visit import Visit
from manager.console.tables.kinds import BYTES, MOMENT, NUMBER, PATH
from manager.console.tables.sources import InMemory
from manager.console.tables.table import Column, Table
from manager.operations.segments.adoption import Adopted, IdOf
from manager.operations.segments.trash_contents import TrashDay, TrashFile
from shared.errors import FormatError

__all__ = ["DAYS", "FILES", "PAGES"]

HERE: Final = "/console/trash"
FILES_SHOWN: Final = 200
ROWS_MOST: Final = 1_000_000
IDS_OF: Final[dict[str, IdOf]] = {"": "", "database": "database", "files": "files"}
_DAY: Final = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")


def show(visit: Visit, *, done: Adopted | None = None) -> Response:
    """Show the trash by day, and the files of one day; what an adoption did, or would do."""
    days = visit.services.archive.trash()
    day = visit.query.get("day") or (days[0].day if days else "")
    _require_day(day)
    files = visit.services.archive.trash_files(day, FILES_SHOWN + 1) if days else []
    return visit.page(
        "trash.html",
        days=DAYS.part(visit, days),
        day=day,
        files=FILES.part(visit, files[:FILES_SHOWN]),
        is_cut=len(files) > FILES_SHOWN,
        done=done,
        kinds=_kind_words(),
    )


def _kind_words() -> dict[str, str]:
    return {
        "segments": _("Segments"),
        "indexes": _("Indexes"),
        "logs": _("Logs"),
        "results": _("Results"),
        "uploads": _("Uploads"),
        "releases": _("Releases"),
    }


def _require_day(text: str) -> None:
    if text and not _DAY.fullmatch(text):
        raise FormatError("console.day", value=text[:20]).about("day")


def _files(visit: Visit) -> Iterator[TrashFile]:
    """Return the files of a day; without a day those of all."""
    day = visit.query.get("day", "")
    _require_day(day)
    wanted = [day] if day else [one.day for one in visit.services.archive.trash()]
    return (one for each in wanted for one in visit.services.archive.trash_files(each, ROWS_MOST))


DAYS: Final[Table[TrashDay]] = Table(
    "/trash/days",
    "Files in the trash by day",
    InMemory(lambda visit: visit.services.archive.trash()),
    (
        Column("day", lambda one: one.day, lazy("Day")),
        Column("files", lambda one: one.files, lazy("Files"), NUMBER),
        Column("size", lambda one: one.size_bytes, lazy("Size"), BYTES),
        Column("deleted_from", lambda one: one.deleted_from, lazy("Deleted from")),
    ),
)
FILES: Final[Table[TrashFile]] = Table(
    "/trash/files",
    "Files in the trash",
    InMemory(_files),
    (
        Column("day", lambda one: one.day),
        Column("file", lambda one: one.name, lazy("File"), PATH),
        Column("kind", lambda one: one.kind, lazy("Kind")),
        Column("size", lambda one: one.size_bytes, lazy("Size"), BYTES),
        Column("changed", lambda one: one.changed_ms or None, lazy("Changed"), MOMENT),
    ),
    parameters=("day",),
    files="trash",
)


def put_back(visit: Visit) -> Response:
    """Put back files that a row names and that are missing in their place; ask once."""
    if not visit.is_confirmed:
        return visit.ask(
            _("Put back files that have a database row?"),
            _("Files that have a database row and are missing in their place go back to it."),
            _("All other files stay in the trash. To register segments without a row, adopt them."),
            button=_("Put back"),
            back=HERE,
            danger=False,
        )
    moved = sum(visit.services.archive.put_back(visit.actor).moved.values())
    said = ngettext(
        "%(num)s file was put back to its place.",
        "%(num)s files were put back to their places.",
        moved,
    )
    return visit.go(HERE, done=said)


def adopt(visit: Visit) -> Response:
    """Enter segments that no row names, from their places and from the trash; look first."""
    id_of = visit.form.get("id_of", "")
    if id_of not in IDS_OF:
        raise FormatError("console.id_of", value=id_of[:20]).about("id_of")
    trusted = visit.form.get("trusted") == "yes"
    if visit.form.get("look") == "yes":
        seen = visit.services.archive.adopt(
            visit.actor, dry_run=True, trusted=trusted, id_of=IDS_OF[id_of]
        )
        return show(visit, done=seen)
    if not visit.is_confirmed:
        fields = {"id_of": id_of, **({"trusted": "yes"} if trusted else {})}
        return visit.ask(
            _("Adopt the files of this manager?"),
            _(
                "All kept files get the installation id of the database, or the database "
                "gets theirs."
            ),
            _("Segments without a row are read and registered; nothing is deleted."),
            _(
                "It reads each of them, which takes hours if there are many. It continues "
                "if you close this page; the audit log records the result."
            ),
            button=_("Adopt"),
            back=HERE,
            fields=fields,
        )
    done = visit.services.archive.adopt(
        visit.actor, dry_run=False, trusted=trusted, id_of=IDS_OF[id_of]
    )
    return show(visit, done=done)


PAGES: Final = (
    Page("GET", "/trash", "viewer", show, query=("day",)),
    *DAYS.file_pages(),
    *FILES.file_pages(),
    Page("POST", "/trash/put-back", "admin", put_back, form="/trash"),
    Page("POST", "/trash/adopt", "admin", adopt, form="/trash"),
)
