"""`prs schedule`, `prs start`, `prs uninstall`: who starts the agent, and the end of that."""

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
from agent.app.startup.uninstall import (
    hand_back_work,
    remove_data,
    stop_and_unschedule,
    unsent_segments,
)
from agent.cli.options import HomeOption, in_words, pass_home_option, print_text
from agent.control.lock import holder_of
from agent.errors import HomeError
from agent.settings import Home

__all__ = ["schedule", "start", "uninstall"]


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


@click.command()
@click.option("--delete-data", is_flag=True, help="Delete the home too: key, settings, pages.")
@click.option("--unsent", "even_unsent", is_flag=True, help="Also pages that the centre has not.")
@click.option("--without-manager", is_flag=True, help="Leave though the manager does not hear it.")
@pass_home_option
def uninstall(
    home_option: HomeOption, delete_data: bool, even_unsent: bool, without_manager: bool
) -> None:
    """Hand the work back, end the agent, and take away what starts it.

    The programs stay: delete their folder afterwards. Without --delete-data `prs resume` and `prs
    schedule` undo it.
    """
    home = Home(home_option.path)
    with in_words():
        settings = home_option.settings()
        if delete_data and not even_unsent and (waiting := unsent_segments(home)):
            raise HomeError("agent_errors.segments_unsent", segments=len(waiting))
        if not without_manager:
            print_text(hand_back_work(settings))
        for line in stop_and_unschedule(settings):
            print_text(line)
        if delete_data:
            remove_data(home_option.path)
            print_text(f"{home_option.path} was deleted")
        else:
            print_text(
                f"{home_option.path} keeps settings, key and pages; --delete-data deletes them"
            )
