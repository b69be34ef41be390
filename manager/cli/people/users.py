"""`prsm users`: who may log in to the console."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any, Final

import click

from manager.cli import output
from manager.cli.options import Target, json_answer, pass_target

__all__ = ["users"]

ROLES: Final = click.Choice(["viewer", "operator", "admin"])


@click.group()
def users() -> None:
    """Users: people who may log in."""


@users.command()
@click.argument("name")
@click.option("--role", type=ROLES, default="viewer", show_default=True)
@click.option("--password-stdin", is_flag=True, help="Read the password from standard input.")
@json_answer
def add(target: Target, name: str, role: str, password_stdin: bool) -> Iterator[Any]:
    """Add the user NAME; asks for the password."""
    body = {"name": name, "role": role, "password": _password(password_stdin)}
    yield target.calls.post("/users", body)
    output.say(f"{name} may log in as {role}")


@users.command("list")
@json_answer
def list_(target: Target) -> Iterator[Any]:
    """List all users."""
    return output.answer_rows(
        target.calls.get("/users"),
        "No user yet. `prsm users add NAME --role admin` makes the first.",
        output.Column("user", "name"),
        output.Column("role"),
        output.Column("since", "created_ms", output.time_text),
        output.Column("disabled", "disabled_ms", output.time_text),
    )


@users.command()
@click.argument("name")
@click.option("--password-stdin", is_flag=True, help="Read the password from standard input.")
@click.option("--tokens", is_flag=True, help="Revoke the tokens of its scripts, too.")
@pass_target
def passwd(target: Target, name: str, password_stdin: bool, tokens: bool) -> None:
    """Set the password of NAME; all its sessions end."""
    body = {"password": _password(password_stdin), "tokens": tokens}
    done = target.calls.post(f"/users/{name}/password", body)
    output.say(f"{name} has a new password and is logged out everywhere")
    if tokens:
        output.say(f"revoked {done['revoked']} tokens of its scripts")
    elif done["left"]:
        output.say(f"kept {done['left']} tokens of its scripts: see `prsm tokens`, or --tokens")


@users.command()
@click.argument("name")
@click.argument("role", type=ROLES)
@pass_target
def role(target: Target, name: str, role: str) -> None:
    """Set the role of NAME; a disabled user stays disabled."""
    target.calls.post(f"/users/{name}/role", {"role": role})
    output.say(f"{name} is {role}")


@users.command()
@click.argument("name")
@pass_target
def disable(target: Target, name: str) -> None:
    """Disable the user NAME: sessions end, tokens stop working."""
    target.calls.post(f"/users/{name}/disable", {})
    output.say(f"{name} can no longer log in")


@users.command()
@click.argument("name")
@pass_target
def enable(target: Target, name: str) -> None:
    """Enable the user NAME again, with all tokens that were not revoked."""
    target.calls.post(f"/users/{name}/enable", {})
    output.say(f"{name} may log in again")


@users.command()
@click.argument("name")
@json_answer
def sessions(target: Target, name: str) -> Iterator[Any]:
    """List the sessions of the user NAME."""
    return output.answer_rows(
        target.calls.get(f"/users/{name}/sessions"),
        f"{name} is logged in nowhere.",
        output.Column("session", "id"),
        output.Column("since", "created_ms", output.time_text),
        output.Column("until", "expires_ms", output.time_text),
        output.Column("address", lambda one: one["address"] or "-"),
        output.Column("browser", lambda one: one["browser"] or "-"),
    )


@users.command()
@click.argument("name")
@click.option("--session", default="", help="This one only, as `prsm users sessions` names it.")
@pass_target
def logout(target: Target, name: str, session: str) -> None:
    """End all sessions of NAME; tokens stay valid (`prsm tokens revoke` ends one)."""
    done = target.calls.post(f"/users/{name}/sessions/end", {"session": session})
    output.say(f"ended {done['ended']} sessions of {name}")


def _password(from_stdin: bool) -> str:
    if from_stdin:
        return sys.stdin.readline().rstrip("\n")
    return str(click.prompt("Password", hide_input=True, confirmation_prompt=True))
