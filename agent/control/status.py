"""Status file of a running agent for `prs status`, replaced every second.

Invariant: a reader sees a whole report, the last or the one before. It is not synced to the disk:
after a loss of power the old pages per second have no reader. Whether the process still
lives is not recorded here: only the lock knows.
"""

from __future__ import annotations

import json
from collections import deque
from dataclasses import asdict, field
from pathlib import Path
from typing import Any, Final

from agent.errors import HomeError
from agent.settings.home import PART
from shared.frozen import frozen
from shared.messages import Message

__all__ = [
    "BackOff",
    "KindRow",
    "Rates",
    "Status",
    "Stopped",
    "WaitRow",
    "read_status",
    "status_json",
    "write_status",
]

RATE_S: Final = 60.0
_MESSAGES: Final = ("reason", "trouble", "reports_trouble", "stuck")
_MESSAGE_LISTS: Final = ("reports_refused", "tightened", "renamed", "wrong")
_SUFFIX: Final = "_message"
"""Of the member with code and parameters, behind the name of the sentence."""


@frozen
class Stopped:
    """Count of URLs that were not fetched for one reason, with a few examples."""

    count: int
    examples: tuple[str, ...] = ()


@frozen
class KindRow:
    """Counts of one kind of links since the start."""

    links: int  # URLs that it was the first to lead to
    pages: int  # of them, answered with 2xx
    missing: int  # with 404 or 410


@frozen
class BackOff:
    """An address that is left alone for longer, and why."""

    address: str
    host: str
    reason: str
    strikes: int  # errors, less the successes since
    remaining_s: float


@frozen
class WaitRow:
    """A host that waits for its next request. reason: a code of `WaitReason`; detail: how long it
    asked for, or what it answered. remaining_s: until the earliest time; below 0: at its turn.
    """

    host: str
    address: str
    reason: str
    detail: str
    remaining_s: float


@frozen
class Status:
    """One report. Times are epoch milliseconds unless the name says seconds from now."""

    name: str
    manager: str
    version: str
    pid: int
    started_ms: int
    written_ms: int
    state: str
    reason: Message | None = None  # why nothing is fetched now; None: it may be
    message: str = ""  # from the manager, for the partner
    trouble: Message | None = None  # why the manager was not reached last
    reports_trouble: Message | None = None
    round: int = 0
    generation: int = 0
    epoch: int | None = None
    permit_remaining_s: float = 0.0
    next_contact_s: float = 0.0
    window_open: bool = True
    window_change_ms: int | None = None
    units: int = 0
    units_finished: int = 0  # without those that failed
    units_failed: int = 0  # of which not a single page came
    failures: dict[str, int] = field(default_factory=dict)  # of them, by `HostFailure`
    names_unanswered: int = 0  # hosts whose name servers did not answer; they are asked again
    pages: int = 0
    requests: int = 0
    errors: int = 0
    response_bytes: int = 0
    pages_per_s: float = 0.0
    bytes_per_s: float = 0.0
    queue: int = 0
    hosts: int = 0  # addresses with something to do
    active_hosts: int = 0  # of them, those being crawled now
    in_flight: int = 0
    held_bytes: int = 0  # of bodies that come in or wait to be read
    backing_off: int = 0  # addresses that rest longer because of errors, 429, 503 or Retry-After
    backed_off: tuple[BackOff, ...] = ()  # some of them
    waits: tuple[WaitRow, ...] = ()  # hosts that wait longest for their next request
    denied: int = 0
    discovered: int = 0
    reports_waiting: int = 0
    reports_bytes: int = 0
    reports_refused: tuple[Message, ...] = ()
    disk_free_bytes: int = 0
    month_bytes: int = 0  # of all fetches, this month
    worst_pause_ms: float = 0.0  # for which no connection was served, since the start
    worst_commit_ms: float = 0.0  # of it, by a commit
    page_workers: int = 0  # processes that read pages
    page_workers_replaced: int = 0
    tightened: tuple[Message, ...] = ()  # what the manager asked for and the site's settings allow
    not_fetched: dict[str, Stopped] = field(default_factory=dict)  # by reason
    remarks: dict[str, Stopped] = field(default_factory=dict)
    links: dict[str, KindRow] = field(default_factory=dict)  # by kind: what it brought
    renamed: tuple[Message, ...] = ()  # settings that are written under old names
    wrong: tuple[Message, ...] = ()  # what a person should mend, if it lasts
    stuck: Message | None = (
        None  # what does not get on, though it should; then the process wants replacing
    )


class Rates:
    """Pages and bytes a second over the last minute."""

    def __init__(self) -> None:
        self._samples: deque[tuple[float, int, int]] = deque()

    def note(self, now_s: float, pages: int, response_bytes: int) -> tuple[float, float]:
        """Take the counters of now; return (pages a second, bytes a second)."""
        samples = self._samples
        samples.append((now_s, pages, response_bytes))
        while now_s - samples[0][0] > RATE_S:
            samples.popleft()
        then_s, pages_then, bytes_then = samples[0]
        if now_s <= then_s:
            return 0.0, 0.0
        passed_s = now_s - then_s
        return (pages - pages_then) / passed_s, (response_bytes - bytes_then) / passed_s


def status_json(status: Status) -> dict[str, Any]:
    """Return a report as JSON has it: beside each sentence its code and parameters."""
    values = asdict(status)
    for name in _MESSAGES:
        message = values[name]
        values[name] = "" if message is None else str(message)
        values[f"{name}{_SUFFIX}"] = None if message is None else message.as_json()
    for name in _MESSAGE_LISTS:
        messages = values[name]
        values[name] = [str(one) for one in messages]
        values[f"{name}{_SUFFIX}"] = [one.as_json() for one in messages]
    return values


def write_status(path: Path, status: Status) -> None:
    """Replace the report."""
    part = path.with_name(path.name + PART)
    part.write_text(json.dumps(status_json(status)))
    part.replace(path)


def read_status(path: Path) -> Status | None:
    """Return the last report, None where there was none. Raises HomeError."""
    try:
        values: dict[str, Any] = json.loads(path.read_bytes())
        for name in ("not_fetched", "remarks"):
            values[name] = {
                reason: Stopped(int(one["count"]), tuple(one["examples"]))
                for reason, one in values[name].items()
            }
        values["links"] = {
            kind: KindRow(**{name: int(count) for name, count in one.items()})
            for kind, one in values["links"].items()
        }
        values["backed_off"] = tuple(BackOff(**one) for one in values["backed_off"])
        values["waits"] = tuple(WaitRow(**one) for one in values.get("waits", ()))
        for name in _MESSAGES:
            said = values.pop(f"{name}{_SUFFIX}", None)
            values[name] = _read_message(said, values.get(name, ""))
        for name in _MESSAGE_LISTS:
            texts = values.get(name, ())
            said = values.pop(f"{name}{_SUFFIX}", None) or [None] * len(texts)
            read = (_read_message(*one) for one in zip(said, texts, strict=True))
            values[name] = tuple(one for one in read if one is not None)
        return Status(**values)
    except FileNotFoundError:
        return None
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise HomeError(
            "agent_errors.status_of_other_version", path=str(path), why=str(error)
        ) from error


def _read_message(said: object, text: str) -> Message | None:
    """Return a message that was written down; of an older version there is the sentence only."""
    return Message.of_json(said) or (Message.of_text(text) if text else None)
