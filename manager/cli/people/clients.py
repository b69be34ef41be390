"""`prsm clients`: third parties who may take captures."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import click

from manager.cli import output
from manager.cli.options import Target, json_answer, pass_target

__all__ = ["clients"]

SCOPES: Final = ("segments", "pages", "index", "changes")


@click.group(invoke_without_command=True)
@json_answer
def clients(target: Target) -> Iterator[Any]:
    """Third parties and their tokens; without a command: the list."""
    return output.answer_rows(
        target.calls.get("/clients"),
        "No third party yet. `prsm clients add NAME --contact ADDRESS` registers one.",
        output.Column("client", lambda one: one["client"]["name"]),
        output.Column("contact", lambda one: one["client"]["contact"]),
        output.Column("tokens", _tokens_text),
        output.Column("today", _bytes_today),
        output.Column("last month", lambda one: sum(row["bytes"] for row in one["usage"])),
        output.Column("disabled", lambda one: output.time_text(one["client"]["disabled_ms"])),
    )


def _tokens_text(one: dict[str, Any]) -> str:
    return " ".join(str(token["id"]) for token in one["tokens"] if token["revoked_ms"] is None)


def _bytes_today(one: dict[str, Any]) -> int:
    today = max((row["day"] for row in one["usage"]), default=0)
    return sum(row["bytes"] for row in one["usage"] if row["day"] == today)


@clients.command()
@click.argument("name")
@click.option("--contact", required=True, help="Where the client is reached.")
@click.option("--purpose", default="", help="What the captures are for.")
@pass_target
def add(target: Target, name: str, contact: str, purpose: str) -> None:
    """Register the third party NAME; `prsm clients token NAME` then issues its token."""
    target.calls.post("/clients", {"name": name, "contact": contact, "purpose": purpose})
    output.say(f"{name} is registered")


@clients.command()
@click.argument("name")
@click.option("--scope", "scopes", multiple=True, type=click.Choice(SCOPES), help="Default: all.")
@click.option("--days", default=365, show_default=True, help="It ends after so many days.")
@click.option("--daily-bytes", default=0, help="It gives so many bytes a day; 0: no limit.")
@click.option("--requests-per-minute", default=600, show_default=True)
@json_answer
def token(target: Target, name: str, scopes: tuple[str, ...], **options: Any) -> Iterator[Any]:
    """Issue a token for NAME. It is shown once and kept nowhere."""
    body = {**options, "scopes": list(scopes or SCOPES)}
    made = target.calls.post(f"/clients/{name}/tokens", body)
    yield made
    output.say(f"token {made['id']} until {output.time_text(made['expires_ms'])}:", err=True)
    output.say(made["token"])


@clients.command()
@click.argument("name")
@click.argument("number", type=int)
@pass_target
def revoke(target: Target, name: str, number: int) -> None:
    """Revoke token NUMBER of NAME; its downloads end too."""
    target.calls.post(f"/clients/{name}/tokens/{number}/revoke")
    output.say(f"token {number} of {name} is revoked")


@clients.command()
@click.argument("name")
@click.option("--again", is_flag=True, help="Enable it again.")
@pass_target
def disable(target: Target, name: str, again: bool) -> None:
    """Disable the third party NAME with all its tokens."""
    target.calls.post(f"/clients/{name}/disable", {"disabled": not again})
    output.say(f"{name} is {'let in again' if again else 'disabled'}")
