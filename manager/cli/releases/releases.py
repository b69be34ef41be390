"""`prsm release`: publish releases of the agent, offer them, halt and revoke them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import click

from manager.cli import output as showing
from manager.cli.options import Target, json_answer, pass_target, yes_option
from manager.cli.releases.release_signing import cosign, key, root, sign, signer, signer_keys

__all__ = ["release"]

CHUNK_BYTES: Final = 1024**2
LATE_MS: Final = 60_000
RINGS: Final = click.Choice(["canary", "tenth", "all"])
_file: Final = click.Path(path_type=Path, exists=True, dir_okay=False)


@click.group(invoke_without_command=True)
@json_answer
def release(target: Target) -> Iterator[Any]:
    """Releases of the agent; without a command: the list. Ceremony: docs/operations.md."""
    found = target.calls.get("/releases")
    yield found
    showing.table(
        found["releases"],
        "No release yet. docs/operations.md, Releases, says how to begin.",
        showing.Column("version"),
        showing.Column("offered to", "ring"),
        showing.Column("agents", lambda one: found["in_use"].get(one["version"], 0)),
        showing.Column("published", "published_ms", showing.time_text),
        showing.Column("", _state_text),
        showing.Column("file", _file_text),
    )
    for one in found["metadata"]:
        until = showing.time_text(one["expires_ms"])
        showing.say(f"{one['role']} {one['version']}: signed until {until}")
    if found["minimum"]:
        showing.say(f"agents below {found['minimum']} get no work")
    others = {v: n for v, n in found["in_use"].items() if not _is_listed(v, found)}
    for version, number in sorted(others.items()):
        showing.say(f"{number} agents run {showing.printable(version)}, which is no release here")
    for one in found["agents"]:
        showing.say(_agent_line(one))


def _state_text(one: dict[str, Any]) -> str:
    return "revoked" if one["revoked_ms"] else "halted" if one["halted_ms"] else ""


def _file_text(one: dict[str, Any]) -> str:
    return f"{one['target']} {showing.bytes_text(one['size_bytes'])}"


def _is_listed(version: str, found: dict[str, Any]) -> bool:
    return any(one["version"] == version for one in found["releases"])


def _agent_line(one: dict[str, Any]) -> str:
    told = one["told"]
    words = [f"{one['agent']}: runs {one['running'] or 'an unknown version'}"]
    words += ["canary"] if told["canary"] else []
    words += [f"pinned to {told['pin']}"] if told["pin"] else []
    if told["outcome"]:
        words.append(f"{told['version']} {told['outcome']} {told['step']} {told['detail']}".strip())
    return showing.printable(", ".join(words))


@release.command()
@click.argument("root_file", type=_file)
@click.argument("targets_file", type=_file)
@pass_target
def init(target: Target, root_file: Path, targets_file: Path) -> None:
    """Set up releases: serve the first signed root and targets that name no release."""
    body = {"root": root_file.read_text(), "targets": targets_file.read_text()}
    target.calls.post("/releases/init", body)
    showing.say("releases are served; install 1.root.json at the sites, with the first release")


@release.command()
@click.option("--root", "root_file", type=_file, help="The next root.")
@click.option("--targets", "targets_file", type=_file, help="The next targets, same releases.")
@pass_target
def rotate(target: Target, root_file: Path | None, targets_file: Path | None) -> None:
    """Serve the next root, or newly signed targets; after a new targets key, both."""
    if root_file is None and targets_file is None:
        raise click.UsageError("give --root, --targets or both")
    files = {"root": root_file, "targets": targets_file}
    body = {name: file.read_text() for name, file in files.items() if file is not None}
    target.calls.post("/releases/root", body)


@release.command()
@click.argument("bundle", type=_file)
@click.argument("targets_file", type=_file)
@pass_target
def publish(target: Target, bundle: Path, targets_file: Path) -> None:
    """Serve BUNDLE, named by signed TARGETS_FILE (`prsm release sign`), without an offer yet."""
    target.calls.upload("/releases/bundles", _chunks(bundle))
    done = target.calls.post("/releases/publish", {"targets": targets_file.read_text()})
    for version in done["versions"]:
        showing.say(
            f"{version} is served; `prsm release rollout {version} --ring canary` offers it"
        )


@release.command()
@click.argument("version")
@click.option("--ring", type=RINGS, required=True, help="Who is offered it.")
@pass_target
def rollout(target: Target, version: str, ring: str) -> None:
    """Roll out VERSION: to the canaries, to a tenth of the agents too, or to all."""
    target.calls.post(f"/releases/{version}/rollout", {"ring": ring})


@release.command()
@click.argument("version")
@pass_target
def halt(target: Target, version: str) -> None:
    """Halt the rollout of VERSION at once; `rollout` resumes it."""
    target.calls.post(f"/releases/{version}/halt")


@release.command()
@click.argument("version")
@click.argument("targets_file", type=_file)
@yes_option
@pass_target
def revoke(target: Target, version: str, targets_file: Path, yes: bool) -> None:
    """Revoke VERSION permanently by signed targets without it (`prsm release sign --revoke`)."""
    if not yes:
        click.confirm(f"{version} can never be published again. Revoke it?", abort=True)
    target.calls.post(f"/releases/{version}/revoke", {"targets": targets_file.read_text()})


@release.command()
@click.argument("agent")
@click.option("--off", is_flag=True, help="No more.")
@pass_target
def canary(target: Target, agent: str, off: bool) -> None:
    """Make AGENT a canary: it gets each rollout first."""
    target.calls.post(f"/releases/agents/{agent}/canary", {"canary": not off})


@release.command()
@click.argument("agent")
@click.argument("version", default="")
@pass_target
def pin(target: Target, agent: str, version: str) -> None:
    """Pin AGENT to this VERSION; without VERSION it follows its ring again."""
    target.calls.post(f"/releases/agents/{agent}/pin", {"version": version})


@release.command()
@click.argument("agent", default="")
@json_answer
def updates(target: Target, agent: str) -> Iterator[Any]:
    """Show update results of AGENT, or of all agents, newest first, with late reports."""
    return showing.answer_rows(
        target.calls.get("/releases/updates", agent=agent),
        "No agent has reported an update.",
        showing.Column("when", "at_ms", showing.time_text),
        *showing.columns("agent", "version"),
        showing.Column("", "outcome"),
        showing.Column("at", "step"),
        showing.Column("times"),
        showing.Column("told", _told_text),
        showing.Column("why", lambda one: one["detail"][:120]),
    )


def _told_text(one: dict[str, Any]) -> str:
    late = one["reported_ms"] - one["at_ms"] > LATE_MS
    return showing.time_text(one["reported_ms"]) if late else "at once"


@release.command()
@click.argument("version", default="")
@pass_target
def minimum(target: Target, version: str) -> None:
    """Set the minimum agent version: older agents get no work; without VERSION: no minimum."""
    target.calls.post("/releases/minimum", {"version": version})


@release.command()
@click.argument("name")
@click.option("-o", "--output", type=click.Path(path_type=Path), help="Write to this file.")
@pass_target
def metadata(target: Target, name: str, output: Path | None) -> None:
    """Print a served signed file, as `targets.json` or `1.root.json`."""
    with target.calls.download(f"/releases/metadata/{name}") as chunks:
        body = b"".join(chunks)
    if output is None:
        click.echo(body.decode())
    else:
        output.write_bytes(body)


def _chunks(path: Path) -> Iterator[bytes]:
    with path.open("rb") as file:
        while chunk := file.read(CHUNK_BYTES):
            yield chunk


for _command in (key, root, sign, cosign, signer_keys, signer):
    release.add_command(_command)
