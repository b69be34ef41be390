"""Signed files of releases: their expiry, and forms that begin, revoke, sign for another year.

The files are signed where the keys of people are (docs/adr/0120). The web process has no such key:
it checks what it is given, has the signing process cover it, and serves it.
"""

from __future__ import annotations

from typing import Final

from starlette.responses import Response

from manager.console.language import _, lazy, ngettext
from manager.console.requests.page import Page
from manager.console.requests.visit import Visit, link
from manager.console.tables.kinds import ID, MOMENT, NUMBER, STATE
from manager.console.tables.sources import InMemory
from manager.console.tables.table import Column, Table
from manager.operations.releases.release_views import WARN_MS, MetadataAge, list_releases
from manager.operations.releases.releases import begin_releases, revoke, take_next
from manager.operations.releases.rollouts import offers
from shared.errors import FormatError
from shared.frozen import frozen

__all__ = ["KEYS", "PAGES", "KeyLine", "key_line"]

DAY_MS: Final = 86_400_000
FILE_MOST: Final = 500_000
"""Characters of a signed file, as `/api/v1/releases` takes."""


@frozen
class KeyLine:
    """The newest signed file of a role. state: good, soon or ended."""

    age: MetadataAge
    days: int
    state: str


def key_line(age: MetadataAge, now_ms: int) -> KeyLine:
    """Return how the newest signed file of a role is now."""
    left_ms = age.expires_ms - now_ms
    state = "ended" if left_ms <= 0 else "soon" if left_ms < WARN_MS[age.role] else "good"
    return KeyLine(age, left_ms // DAY_MS, state)


def _lines(visit: Visit) -> list[KeyLine]:
    return [key_line(age, visit.now_ms) for age in list_releases(visit.db).metadata]


KEYS: Final[Table[KeyLine]] = Table(
    "/releases/keys",
    "Expiry of the signed files of releases",
    InMemory(_lines),
    (
        Column("key", lambda line: line.age.role, lazy("Key"), about="role of the key"),
        Column("version", lambda line: line.age.version, kind=ID, about="of the file"),
        Column("state", lambda line: line.state, lazy("State"), STATE),
        Column("days_left", lambda line: line.days, lazy("Days left"), NUMBER),
        Column("until", lambda line: line.age.expires_ms, lazy("Until"), MOMENT),
        Column("renewed_by", None, lazy("Renewed by"), style="quiet"),
    ),
    files="release-keys",
)


def begin(visit: Visit) -> Response:
    """Begin to serve releases with the first signed root and targets."""
    root, targets = _file(visit, "root"), _file(visit, "targets")
    begin_releases(visit.db, visit.services.signing, root, targets, visit.actor, visit.now_ms)
    return visit.go(link("releases"), done=_("Releases are served. Publish the first one."))


def take_away(visit: Visit) -> Response:
    """Revoke a release permanently, by signed targets without it."""
    version, targets = visit.form.get("version", ""), _file(visit, "targets")
    if not visit.is_confirmed:
        running = sum(one.running == version for one in offers(visit.db))
        return visit.ask(
            _("Revoke %(version)s at all sites?", version=version),
            _("No site installs it again, and it can never be published again."),
            ngettext(
                "%(num)s agent runs it now, and gets the next release that is offered.",
                "%(num)s agents run it now, and get the next release that is offered.",
                running,
            ),
            button=_("Revoke the release"),
            back=link("releases"),
            fields={"version": version, "targets": targets.decode()},
        )
    revoke(visit.db, visit.services.signing, version, targets, visit.actor, visit.now_ms)
    return visit.go(link("releases"), done=_("%(version)s is revoked.", version=version))


def renew(visit: Visit) -> Response:
    """Accept the next root, or targets with a new signature, or both."""
    root, targets = (_file(visit, name, optional=True) or None for name in ("root", "targets"))
    if root is None and targets is None:
        raise FormatError("console.signatures_missing").about("targets")
    take_next(visit.db, visit.services.signing, root, targets, visit.actor, visit.now_ms)
    return visit.go(link("releases"), done=_("The new signatures are served."))


def _file(visit: Visit, name: str, *, optional: bool = False) -> bytes:
    """Return a signed file that was pasted or read from the browser's disk."""
    text = visit.form.get(name, "").strip()
    if not text and not optional:
        raise FormatError("console.signed_file_missing", name=name).about(name)
    if len(text) > FILE_MOST:
        raise FormatError("console.signed_file_too_long", length=len(text), most=FILE_MOST).about(
            name
        )
    return text.encode()


PAGES: Final = (
    Page("POST", "/releases/init", "admin", begin, form="/releases"),
    Page("POST", "/releases/revoke", "admin", take_away, form="/releases"),
    Page("POST", "/releases/rotate", "admin", renew, form="/releases"),
    *KEYS.file_pages(),
)
