"""`prs uninstall`: leave the crawl permanently."""

from __future__ import annotations

import click

from agent.app.startup.uninstall import (
    hand_back_work,
    remove_data,
    stop_and_unschedule,
    unsent_segments,
)
from agent.cli.options import HomeOption, in_words, pass_home_option, print_text
from agent.errors import HomeError
from agent.settings import Home

__all__ = ["uninstall"]


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
