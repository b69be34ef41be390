"""`prs schedule`, `prs start`: who starts the agent; have it started now."""

from __future__ import annotations

import click

from agent.app.startup.agent_run import identity_of
from agent.app.startup.start_methods import (
    STARTERS,
    Starter,
    describe_start_methods,
    install_start_method,
    start_now,
)
from agent.cli.options import HomeOption, in_words, pass_home_option, print_text
from agent.control.lock import holder_of
from agent.settings import Home

__all__ = ["schedule", "start"]


@click.command()
@click.argument("starter", type=click.Choice(STARTERS), required=False)
@pass_home_option
def schedule(home_option: HomeOption, starter: Starter | None) -> None:
    """Install cron or systemd as the start method, or none; without a word, show it.

    The lines for cron follow from the hours in prs.toml: give the command again when they changed.
    """
    with in_words():
        if starter is None:
            said = describe_start_methods(home_option.path)
        else:
            settings = home_option.settings()
            Home(home_option.path).make()
            said = install_start_method(settings, starter) or ["no start method"]
    for line in said:
        print_text(line)


@click.command()
@pass_home_option
def start(home_option: HomeOption) -> None:
    """Start the agent now, by systemd or as cron does, where one of them is to start it."""
    with in_words():
        holder = holder_of(Home(home_option.path).lock)
        if holder is not None:
            said = [f"process {holder.pid} works here already"]
        else:
            settings = home_option.settings()
            identity_of(settings)  # whoever never joined hears that first
            said = start_now(settings)
    for line in said:
        print_text(line)
