"""`prs status`, `prs doctor`, `prs settings`: how it goes, what is wrong, what can be set."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from typing import Any, Final

import click

from agent.app.site.diagnosis import diagnose, disk_of
from agent.cli.options import (
    REFUSED,
    HomeOption,
    in_words,
    pass_home_option,
    plain,
    print_text,
    set_option,
)
from agent.control.doctor import Check
from agent.control.drain import read_holds
from agent.control.lock import holder_of
from agent.control.status import Status, read_status, status_json
from agent.control.updates import skipped_releases
from agent.settings import Home, documented
from shared.errors import PrsmError
from shared.host_failures import failure_words

__all__ = ["check_lines", "doctor", "settings", "status", "status_lines"]

WAITS_SHOWN: Final = 5
WAIT_WORDS: Final = {
    "interval": "the interval between two requests to an address",
    "slow": "its last answer was slow, ten times as long",
    "back_off": "it answered with errors or asked for time",
    "crawl_delay": "Crawl-delay of its robots.txt",
    "shared": "interval of the list",
    "retry": "pages that failed are tried again",
    "robots": "its robots.txt was asked for and has not come",
    "closed": "the hours of this site",
}
"""Codes of `agent.modules.frontier.WaitReason` in words."""


@click.command()
@click.option("--json", "as_json", is_flag=True, help="All of it, for programs.")
@click.option(
    "--waits",
    type=click.IntRange(0, 100),
    default=WAITS_SHOWN,
    show_default=True,
    help="Hosts that wait for their next request, the longest first.",
)
@pass_home_option
def status(home_option: HomeOption, as_json: bool, waits: int) -> None:
    """Show the agent's work, the reason where it has none, and each wait with its end."""
    home = Home(home_option.path)
    with in_words(as_json=as_json):
        holder = holder_of(home.lock)
        last = read_status(home.status)
        held = read_holds(home.hold).reason
    if as_json:
        running = holder is not None
        updates = skipped_releases()
        said = {
            "running": running,
            "updates": [str(one) for one in updates],
            "updates_message": [one.as_json() for one in updates],
            "status": last and status_json(last),
        }
        click.echo(json.dumps(said))
        return
    if holder is None:
        print_text("no agent runs here" + (f"; {held}" if held else ""))
        for line in _disk_problem(home_option):
            print_text(line)
    for release in skipped_releases():
        print_text(plain(f"update: {release}"))
    if last is None:
        if home.key.exists():
            print_text("none has run yet: prs start, or prs run in this terminal")
        else:
            print_text("it has not joined a crawl yet: prs enrol URL")
        return
    for line in status_lines(last, running=holder is not None, waits=waits):
        print_text(plain(line))


def _disk_problem(home_option: HomeOption) -> Iterator[str]:
    """Yield why an agent that does not run would find no room; settings may be wrong, too."""
    with contextlib.suppress(PrsmError, OSError):
        disk = disk_of(home_option.settings(), 0)
        if not disk.passed:
            yield f"disk: {disk.said}; {disk.remedy}"


@click.command()
@click.option("--page", metavar="URL", default="", help="Try the way to pages with this site.")
@click.option("--json", "as_json", is_flag=True, help="Results with their codes, for programs.")
@set_option
@pass_home_option
def doctor(
    home_option: HomeOption, page: str, overrides: tuple[str, ...], *, as_json: bool
) -> None:
    """Check all that an agent needs; exit code 1 where something is wrong."""
    with in_words(as_json=as_json):
        checks = asyncio.run(diagnose(home_option.settings(overrides), page))
    if as_json:
        click.echo(json.dumps([_check_json(check) for check in checks]))
    else:
        for line in check_lines(checks):
            print_text(line)
    if not all(check.passed for check in checks):
        raise SystemExit(REFUSED)


@click.command()
def settings() -> None:
    """Print a prs.toml with all settings, their defaults, ranges and reasons."""
    click.echo(documented(), nl=False)


def _check_json(check: Check) -> dict[str, Any]:
    remedy = check.remedy
    return {
        "name": check.name,
        "good": check.passed,
        "said": str(check.said),
        "said_message": check.said.as_json(),
        "remedy": "" if remedy is None else str(remedy),
        "remedy_message": None if remedy is None else remedy.as_json(),
    }


def check_lines(checks: Iterable[Check]) -> Iterator[str]:
    """Yield what `prs doctor` prints."""
    for check in checks:
        yield f"{'ok ' if check.passed else 'BAD'} {check.name}: {check.said}"
        if not check.passed:
            yield f"    -> {check.remedy}"


def status_lines(status: Status, *, running: bool, waits: int = WAITS_SHOWN) -> Iterator[str]:
    """Yield what `prs status` prints of a report, with so many hosts that wait."""
    when = _time(status.written_ms)
    if running:
        yield f"{status.name} at {status.manager}: {status.state} (process {status.pid})"
    else:
        yield f"{status.name} at {status.manager}: last seen {when}, {status.state}"
    if status.reason:
        yield f"  not fetching: {status.reason}"
    yield (
        f"  list {status.generation} of round {status.round}: "
        f"{status.units_finished} of {status.units} units finished{_failed(status)}"
    )
    yield (
        f"  {status.pages} pages, {status.response_bytes} bytes, {status.errors} errors, "
        f"{status.denied} denied by robots.txt"
    )
    if running:
        yield (
            f"  now {status.pages_per_s:.1f} pages/s, {status.bytes_per_s:.0f} bytes/s; queue "
            f"{status.queue}, {status.active_hosts} of {status.hosts} addresses, "
            f"{status.in_flight} requests, {status.held_bytes / 1e6:.1f} MB of bodies"
        )
        yield (
            f"  permit for {status.permit_remaining_s:.0f} s; calls the manager in "
            f"{status.next_contact_s:.0f} s"
        )
        yield from _back_off(status)
        yield from _waits(status, waits)
    if status.window_change_ms is not None:
        word = "open until" if status.window_open else "closed until"
        yield f"  hours: {word} {_time(status.window_change_ms)}"
    yield (
        f"  {status.reports_waiting} reports wait ({status.reports_bytes} bytes), "
        f"{status.disk_free_bytes / 1e9:.1f} GB of disk free; "
        f"{status.month_bytes / 1e9:.1f} GB fetched this month"
    )
    replaced = f", {status.page_workers_replaced} replaced" * bool(status.page_workers_replaced)
    yield (
        f"  worst pause {status.worst_pause_ms:.0f} ms, of a commit "
        f"{status.worst_commit_ms:.0f} ms; {status.page_workers} page workers{replaced}"
    )
    for said, text in (
        ("stuck", status.stuck),
        ("manager", status.trouble),
        ("reports", status.reports_trouble),
        ("the manager says", status.message),
        ("the manager asks for", ", ".join(map(str, status.tightened))),
        *(("settings", text) for text in status.renamed),
    ):
        if text:
            yield f"  {said}: {text}"
    for text in status.reports_refused:
        yield f"  refused: {text}"
    yield from _links(status)
    for title, counts in (("not fetched", status.not_fetched), ("remarks", status.remarks)):
        for reason, stopped in sorted(counts.items(), key=lambda item: -item[1].count):
            yield f"  {title}: {stopped.count} {reason}"
            for example in stopped.examples:
                yield f"      {example}"


def _failed(status: Status) -> str:
    """Return how many units failed, and by what; "": none did."""
    said = ""
    if status.units_failed:
        reasons = ", ".join(f"{n} {failure_words(code)}" for code, n in status.failures.items())
        said = f", {status.units_failed} failed: {reasons}"
    if status.names_unanswered:
        said += f"; name servers do not answer about {status.names_unanswered} hosts"
    return said


def _links(status: Status) -> Iterator[str]:
    """Yield what each kind of links brought since the start."""
    if status.links:
        yield f"  {'links by kind':<16}{'new':>10}{'pages':>10}{'404, 410':>10}"
        for name, one in status.links.items():
            yield f"    {name:<14}{one.links:>10}{one.pages:>10}{one.missing:>10}"


def _back_off(status: Status) -> Iterator[str]:
    if not status.backing_off:
        return
    yield f"  {status.backing_off} addresses are left alone for longer:"
    for one in status.backed_off:
        wait = f"next in {one.remaining_s:.0f} s" if one.remaining_s > 0 else "next at its turn"
        yield f"      {one.host} at {one.address}: {one.reason}, {one.strikes} strikes, {wait}"


def _waits(status: Status, most: int) -> Iterator[str]:
    """Yield when the next requests of hosts are due, and why not before."""
    rows = status.waits[:most]
    if not rows:
        return
    first = f", none before the agent may fetch ({status.reason})" if status.reason else ""
    yield f"  next requests, those that wait longest{first}:"
    for one in rows:
        due = _time(status.written_ms + round(max(0.0, one.remaining_s) * 1000))
        why = WAIT_WORDS.get(one.reason, one.reason)
        detail = f": {one.detail}" if one.detail else ""
        yield f"      {one.host}: {due} (in {max(0.0, one.remaining_s):.0f} s), {why}{detail}"
    if len(status.waits) > most:
        yield f"      ... and more; --waits {len(status.waits)} shows them"


def _time(epoch_ms: int) -> str:
    local = datetime.fromtimestamp(epoch_ms / 1000, UTC).astimezone()
    return f"{local:%Y-%m-%d %H:%M:%S}"
