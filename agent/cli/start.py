"""`prs schedule`, `prs start`: who starts the agent; have it started now."""

from __future__ import annotations

import click

from agent.app.startup.agent_run import identity_of
from agent.app.startup.start_methods import STARTERS, Starter, arrange, arranged, start_now
from agent.cli.options import Place, in_words, pass_place, say
from agent.control.lock import holder_of
from agent.settings import Home

__all__ = ["schedule", "start"]


@click.command()
@click.argument("starter", type=click.Choice(STARTERS), required=False)
@pass_place
def schedule(place: Place, starter: Starter | None) -> None:
    """Install cron or systemd as the start method, or none; without a word, show it.

    The lines for cron follow from the hours in prs.toml: give the command again when they changed.
    """
    with in_words():
        if starter is None:
            said = arranged(place.path)
        else:
            settings = place.settings()
            Home(place.path).make()
            said = arrange(settings, starter) or ["no start method"]
    for line in said:
        say(line)


@click.command()
@pass_place
def start(place: Place) -> None:
    """Start the agent now, by systemd or as cron does, where one of them is to start it."""
    with in_words():
        holder = holder_of(Home(place.path).lock)
        if holder is not None:
            said = [f"process {holder.pid} works here already"]
        else:
            settings = place.settings()
            identity_of(settings)  # whoever never joined hears that first
            said = start_now(settings)
    for line in said:
        say(line)
