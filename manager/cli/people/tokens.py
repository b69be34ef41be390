"""`prsm tokens`: tokens with which people's scripts use `/api/v1`."""

from __future__ import annotations

import click

from manager.cli import output
from manager.cli.options import Target, json_option, pass_target

__all__ = ["tokens"]


@click.group(invoke_without_command=True)
@json_option
@pass_target
@click.pass_context
def tokens(context: click.Context, target: Target, as_json: bool) -> None:
    """API tokens for scripts; without a command: the list."""
    if context.invoked_subcommand is not None:
        return
    found = target.calls.get("/tokens")
    if as_json:
        output.as_json(found)
        return
    output.table(
        ("number", "user", "name", "role", "until", "last used", "revoked"),
        (
            (
                one["id"],
                one["user"],
                one["name"],
                one["role"],
                output.time_text(one["expires_ms"]),
                output.time_text(one["last_used_ms"]),
                output.time_text(one["revoked_ms"]),
            )
            for one in found
        ),
        "No token yet. `prsm tokens add NAME --user USER` makes one.",
    )


@tokens.command()
@click.argument("name")
@click.option("--user", required=True, help="Whose it is; it may do no more than its user.")
@click.option("--role", type=click.Choice(["viewer", "operator", "admin"]), default="viewer")
@click.option("--days", type=click.IntRange(1, 400), default=90, show_default=True)
@json_option
@pass_target
def add(target: Target, name: str, user: str, role: str, days: int, as_json: bool) -> None:
    """Create the token NAME and print it, only this once."""
    body = {"name": name, "user": user, "role": role, "days": days}
    made = target.calls.post("/tokens", body)
    if as_json:
        output.as_json(made)
        return
    output.say(made["token"])
    until = output.time_text(made["expires_ms"])
    output.say(f"{user} may use it as {role} until {until}; it is shown this once", err=True)


@tokens.command()
@click.argument("number", type=int)
@pass_target
def revoke(target: Target, number: int) -> None:
    """Revoke token NUMBER at once."""
    target.calls.post(f"/tokens/{number}/revoke")
