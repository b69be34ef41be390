"""Downloads of third parties with their progress, and selections made as files."""

from __future__ import annotations

from typing import Final

from starlette.responses import Response

from manager.console.language import _, lazy
from manager.console.pages.rounds.schedules import number_of
from manager.console.requests.page import Page
from manager.console.requests.visit import Visit
from manager.console.tables.filters import Filter
from manager.console.tables.kinds import AGO, BYTES, ID, MOMENT, NUMBER, SENTENCE, STATE
from manager.console.tables.sources import ByCursor
from manager.console.tables.table import BUTTONS, Column, Table
from manager.operations.archive import selection_jobs
from manager.operations.archive.downloads import STATES, DownloadRow, list_downloads
from manager.operations.archive.selection_jobs import OwnedJob, list_jobs, remove_job
from manager.operations.people.clients import list_clients

__all__ = ["DOWNLOADS", "JOBS", "PAGES"]

HERE: Final = "/console/archive-jobs"


def _names(visit: Visit) -> list[str]:
    return [detail.client.name for detail in list_clients(visit.db, visit.now_ms)]


DOWNLOADS: Final[Table[DownloadRow]] = Table(
    "/downloads",
    "Downloads of third parties",
    ByCursor(
        lambda visit, listing, before, limit: list_downloads(
            visit.db, visit.now_ms, before=before, limit=limit, **listing.filters
        )
    ),
    (
        Column("id", lambda row: row.id, kind=ID),
        Column("client", lambda row: row.client, lazy("Third party")),
        Column("token", lambda row: row.token_id, kind=ID, about="number of the token"),
        Column("what", lambda row: row.name, lazy("File"), style="path"),
        Column("state", lambda row: row.state, lazy("State"), STATE),
        Column("sent", lambda row: row.sent_bytes, lazy("Sent"), BYTES),
        Column("size", lambda row: row.size_bytes or None, lazy("Size"), BYTES),
        Column("requests", lambda row: row.requests, lazy("Requests"), NUMBER),
        Column("begun", lambda row: row.begun_ms, lazy("Begun"), MOMENT),
        Column("last", lambda row: row.last_ms, lazy("Last activity"), AGO),
        Column("problem", lambda row: row.problem, kind=SENTENCE),
    ),
    page_columns=("what", "client", "state", "sent", "size", "requests", "begun", "last"),
    filters=(
        Filter("client", lazy("Third party"), "names", _names),
        Filter("state", lazy("State"), "words", STATES),
    ),
    default_sort="begun",
)
JOBS: Final[Table[OwnedJob]] = Table(
    "/archive-jobs",
    "Jobs of third parties",
    ByCursor(
        lambda visit, listing, before, limit: list_jobs(
            visit.db, before=before, limit=limit, **listing.filters
        )
    ),
    (
        Column("id", lambda row: row.id, lazy("Job"), ID, style="numbered"),
        Column("client", lambda row: row.client, lazy("Third party")),
        Column("function", lambda row: row.function, about="function of WASAPI"),
        Column("query", lambda row: row.query, lazy("Request"), style="wide path"),
        Column("state", lambda row: row.state, lazy("State"), STATE),
        Column("submitted", lambda row: row.submitted_ms, lazy("Submitted"), MOMENT),
        Column("finished", lambda row: row.finished_ms, lazy("Finished"), MOMENT),
        Column("done", lambda row: row.done, lazy("Captures"), NUMBER, about="captures so far"),
        Column("total", lambda row: row.total, kind=NUMBER, about="captures at most"),
        Column("size", lambda row: row.size_bytes or None, lazy("Size"), BYTES),
        Column("sha256", lambda row: row.sha256),
        Column("problem", lambda row: row.problem, kind=SENTENCE),
        BUTTONS,
    ),
    page_columns=(
        *("id", "client", "query", "state", "done"),
        *("size", "submitted", "finished", "actions"),
    ),
    filters=(
        Filter("client", lazy("Third party"), "names", _names),
        Filter("state", lazy("State"), "words", selection_jobs.STATES),
    ),
    default_sort="begun",
)


def remove(visit: Visit) -> Response:
    """Remove a job and its result; ask once."""
    number = visit.form.get("job", "")
    if not visit.is_confirmed:
        return visit.ask(
            _("Remove job %(number)s?", number=number),
            _("Its result is no longer available. The client may submit it again."),
            button=_("Remove"),
            back=HERE,
            fields={"job": number},
        )
    remove_job(visit.db, number_of(number), visit.actor, visit.now_ms)
    return visit.go(HERE, done=_("Job %(number)s is removed.", number=number))


PAGES: Final = (
    *DOWNLOADS.pages(lambda visit: visit.page("downloads.html", list=DOWNLOADS.view(visit))),
    *JOBS.pages(lambda visit: visit.page("archive_jobs.html", list=JOBS.view(visit))),
    Page("POST", "/archive-jobs/remove", "admin", remove, form="/archive-jobs"),
)
