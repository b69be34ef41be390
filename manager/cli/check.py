"""`prsm check`: the consistency of tables and files."""

from __future__ import annotations

import sys
from typing import Any

import click

from manager.cli import output
from manager.cli.manager_client import RefusedError
from manager.cli.options import Target, json_option, pass_target

__all__ = ["check"]


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
        raise RefusedError(f"{len(findings)} problems found")
    if not as_json:
        output.say("no problem found")


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
