"""`prsm users`: who may log in to the console."""

from __future__ import annotations

import sys
from typing import Final

import click

from manager.cli import output
from manager.cli.options import Target, json_option, pass_target

__all__ = ["users"]

ROLES: Final = click.Choice(["viewer", "operator", "admin"])


@click.group()
def users() -> None:
    """Users: people who may log in."""


@users.command()
@click.argument("name")
@click.option("--role", type=ROLES, default="viewer", show_default=True)
@click.option("--password-stdin", is_flag=True, help="Read the password from standard input.")
@json_option
@pass_target
def add(target: Target, name: str, role: str, password_stdin: bool, as_json: bool) -> None:
    """Add the user NAME; asks for the password."""
    body = {"name": name, "role": role, "password": _password(password_stdin)}
    made = target.calls.post("/users", body)
    if as_json:
        output.as_json(made)
    else:
        output.say(f"{name} may log in as {role}")


@users.command("list")
@json_option
@pass_target
def list_(target: Target, as_json: bool) -> None:
    """List all users."""
    found = target.calls.get("/users")
    if as_json:
        output.as_json(found)
        return
    output.table(
        ("user", "role", "since", "disabled"),
        (
            (
                user["name"],
                user["role"],
                output.time_text(user["created_ms"]),
                output.time_text(user["disabled_ms"]),
            )
            for user in found
        ),
        "No user yet. `prsm users add NAME --role admin` makes the first.",
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
@json_option
@pass_target
def sessions(target: Target, name: str, as_json: bool) -> None:
    """List the sessions of the user NAME."""
    found = target.calls.get(f"/users/{name}/sessions")
    if as_json:
        output.as_json(found)
        return
    output.table(
        ("session", "since", "until", "address", "browser"),
        (
            (
                one["id"],
                output.time_text(one["created_ms"]),
                output.time_text(one["expires_ms"]),
                one["address"] or "-",
                one["browser"] or "-",
            )
            for one in found
        ),
        f"{name} is logged in nowhere.",
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
