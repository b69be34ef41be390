"""`prsm audit`, `prsm reports`, `prsm check`: what happened, and whether all fits together."""

from __future__ import annotations

import sys
from typing import Any

import click

from manager.cli import output
from manager.cli.manager_client import RefusedError
from manager.cli.options import Target, json_option, pass_target

__all__ = ["audit", "check", "reports"]

LIMIT = click.IntRange(1, 1000)

before_option = click.option(
    "--before", type=click.IntRange(1), help="Only those before this `id` of --json."
)


@click.command()
@click.option("--limit", default=50, show_default=True, type=LIMIT)
@click.option("--action", default="", help="Its beginning, as `agent.`.")
@click.option("--subject", default="", help="What it was done to.")
@click.option("--actor", default="", help="Who did it.")
@click.option("--alerts", is_flag=True, help="Only what a person should look at.")
@before_option
@json_option
@pass_target
def audit(
    target: Target,
    limit: int,
    action: str,
    subject: str,
    actor: str,
    alerts: bool,
    before: int | None,
    as_json: bool,
) -> None:
    """Show the audit log: who did what and when, newest first."""
    asked = {"action": action, "subject": subject, "actor": actor, "alerts": alerts}
    rows = target.calls.get("/audit", limit=limit, before_id=before, **asked)
    if as_json:
        output.as_json(rows)
        return
    output.table(
        ("when", "who", "from", "what", "to", "detail"),
        (
            (
                output.time_text(row["at_ms"]),
                f"{row['actor_kind']} {row['actor_name']}",
                row["address"] or "-",
                row["action"] + ("!" if row["alert"] else ""),
                row["subject"],
                row["detail"],
            )
            for row in rows
        ),
        "Nothing happened yet.",
    )


@click.command()
@click.option("--limit", default=50, show_default=True, type=LIMIT)
@click.option("--agent", default="", help="Only of this agent.")
@before_option
@json_option
@pass_target
def reports(target: Target, limit: int, agent: str, before: int | None, as_json: bool) -> None:
    """List the accepted crawl logs, newest first."""
    rows = target.calls.get("/reports", limit=limit, agent=agent, before_id=before)
    if as_json:
        output.as_json(rows)
        return
    output.table(
        ("report", "received", "lines", "not held", "size"),
        (
            (
                row["name"],
                output.time_text(row["received_ms"]),
                row["lines"],
                row["quarantined"],
                output.bytes_text(row["size_bytes"]),
            )
            for row in rows
        ),
        "No log yet. Agents send them when they have finished a list.",
    )


@click.command()
@click.option("--deep", is_flag=True, help="Read every byte of every file; takes hours for much.")
@json_option
@pass_target
def check(target: Target, deep: bool, as_json: bool) -> None:
    """Check the consistency of tables and files; exit code 1 if they do not match.

    Every file that a row names must exist with its size, and every file must have its row.
    With --deep each is read and compared with its digest; a damaged file becomes a problem
    (`prsm archive problems`), and agents are asked to send their segments again.
    """
    found = target.calls.get("/check")
    findings = list(found["findings"])
    if deep:
        findings += _read_all(target, {_key(one) for one in findings}, quiet=as_json)
    if as_json:
        output.as_json({"findings": findings})
    for finding in [] if as_json else findings:
        more = f" ({finding['detail']})" if finding["detail"] else ""
        output.say(f"{finding['subject']}: {finding['problem']}{more}", err=True)
    if findings:
        raise RefusedError(f"{len(findings)} things are not as they must be")
    if not as_json:
        output.say("all is as it should be")


def _read_all(target: Target, known: set[tuple[str, str]], *, quiet: bool) -> list[dict[str, Any]]:
    """Return the findings of reading every file that are not known yet."""
    findings: list[dict[str, Any]] = []
    files = size_bytes = 0
    cursor = ""
    while True:
        page = target.calls.post("/check/files", {"cursor": cursor})
        findings += [one for one in page["findings"] if _key(one) not in known]
        files, size_bytes = files + page["files"], size_bytes + page["bytes"]
        cursor = page["cursor"]
        if not quiet and sys.stderr.isatty():
            output.say(f"\r{files} files, {output.bytes_text(size_bytes)}", nl=not cursor, err=True)
        if not cursor:
            return findings


def _key(finding: dict[str, Any]) -> tuple[str, str]:
    return finding["code"], finding["subject"]
