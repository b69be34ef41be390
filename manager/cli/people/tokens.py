"""`prsm tokens`: tokens with which people's scripts use `/api/v1`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import click

from manager.cli import output
from manager.cli.options import Target, json_answer, pass_target

__all__ = ["tokens"]


@click.group(invoke_without_command=True)
@json_answer
def tokens(target: Target) -> Iterator[Any]:
    """API tokens for scripts; without a command: the list."""
    return output.answer_rows(
        target.calls.get("/tokens"),
        "No token yet. `prsm tokens add NAME --user USER` makes one.",
        output.Column("number", "id"),
        *output.columns("user", "name", "role"),
        output.Column("until", "expires_ms", output.time_text),
        output.Column("last used", "last_used_ms", output.time_text),
        output.Column("revoked", "revoked_ms", output.time_text),
    )


@tokens.command()
@click.argument("name")
@click.option("--user", required=True, help="Whose it is; it may do no more than its user.")
@click.option("--role", type=click.Choice(["viewer", "operator", "admin"]), default="viewer")
@click.option("--days", type=click.IntRange(1, 400), default=90, show_default=True)
@json_answer
def add(target: Target, user: str, role: str, **options: Any) -> Iterator[Any]:
    """Create the token NAME and print it, only this once."""
    made = target.calls.post("/tokens", {"user": user, "role": role, **options})
    yield made
    output.say(made["token"])
    until = output.time_text(made["expires_ms"])
    output.say(f"{user} may use it as {role} until {until}; it is shown this once", err=True)


@tokens.command()
@click.argument("number", type=int)
@pass_target
def revoke(target: Target, number: int) -> None:
    """Revoke token NUMBER at once."""
    target.calls.post(f"/tokens/{number}/revoke")
