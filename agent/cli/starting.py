"""`prs schedule`: who starts the agent."""

from __future__ import annotations

import click

from agent.app.starting import STARTERS, Starter, arrange, arranged
from agent.cli.options import Place, in_words, pass_place
from agent.settings import Home

__all__ = ["schedule"]


@click.command()
@click.argument("starter", type=click.Choice(STARTERS), required=False)
@pass_place
def schedule(place: Place, starter: Starter | None) -> None:
    """Let cron or systemd start the agent, or nobody; without a word, show who does.

    The lines for cron follow from the hours in prs.toml: give the command again when they changed.
    """
    with in_words():
        if starter is None:
            said = arranged(place.path)
        else:
            settings = place.settings()
            Home(place.path).make()
            said = arrange(settings, starter) or ["nobody starts it"]
    for line in said:
        click.echo(line)
