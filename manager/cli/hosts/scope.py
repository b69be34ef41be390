"""`prsm scope`: the rules that say which URLs belong to the crawl."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, TextIO

import click

from manager.cli import output
from manager.cli.options import Target, json_answer, pass_target

__all__ = ["scope"]


@click.group()
def scope() -> None:
    """Scope of the whole crawl: an ordered list of rules, in force from each agent's next sync."""


@scope.command()
@json_answer
def show(target: Target) -> Iterator[Any]:
    """Show the rules in force, as `prsm scope set` reads them."""
    found = target.calls.get("/scope")
    yield found
    state = "applied" if found["is_applied"] else "hosts are being opened and closed"
    output.say(f"# version {found['version']}, {found['outside']} units outside, {state}")
    for line in found["text"].rstrip().splitlines():
        click.echo(output.printable(line.replace("\t", " ")))
    output.say(output.printable(f"# all else: {found['default']}"))
    if countries := found["countries"]:
        file, kind = countries["file"], countries["kind"]
        said = countries["problem"] or ("" if countries["is_applied"] else "being applied")
        output.say(output.printable(f"# countries: {file} ({kind}){said and f', {said}'}"))


@scope.command("set")
@click.argument("file", type=click.File(encoding="utf-8"))
@click.option("--reason", default="", help="For who reads the audit log.")
@click.option("--preview", is_flag=True, help="Show what would close and open; change nothing.")
@click.option("--version", type=int, help="Refuse unless this version is in force.")
@pass_target
def set_(target: Target, file: TextIO, reason: str, preview: bool, version: int | None) -> None:
    """Replace all rules by those of FILE (`-`: standard input)."""
    text = file.read()
    if preview:
        found = target.calls.post("/scope/preview", {"text": text})
        for name in ("closed", "opened"):
            units, hosts = found[f"{name}_units"], found[f"{name}_hosts"]
            output.say(f"{name}: {hosts} hosts, {units} units")
            for one in found[f"{name}_examples"]:
                output.say(output.printable(f"  {one}"))
        output.say(output.printable(f"all else: {found['default']}"))
        return
    done = target.calls.post("/scope", {"text": text, "reason": reason, "version": version})
    output.say(f"version {done['version']} is in force; agents receive it with their next sync")


@scope.command("try")
@click.argument("url")
@click.option("--language", default="", help="Of the page that links to it, as `ja` or `und`.")
@json_answer
def try_(target: Target, url: str, language: str) -> Iterator[Any]:
    """Show which rule decides about a URL or a host."""
    found = target.calls.get("/scope/try", url=url, language=language)
    yield found
    side = "inside" if found["is_inside"] else "outside"
    line = f"line {found['line']}: " if found["line"] else ""
    output.say(output.printable(f"{found['url']} is {side}, by {line}{found['rule']}"))
    if not found["is_inside"] and found["is_host_inside"]:
        output.say("other URLs of its host may be inside, so the host is crawled")
    if found["countries"] is not None:
        output.say(f"countries of its host: {' '.join(found['countries']) or 'none known'}")
    if "language" in found["depends_on"]:
        output.say("the language of the page that links to it may decide otherwise: --language")
    if "country" in found["depends_on"]:
        output.say("the countries of its host are not known, and may decide otherwise")
