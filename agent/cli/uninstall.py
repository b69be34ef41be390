"""`prs uninstall`: leave the crawl permanently."""

from __future__ import annotations

import click

from agent.app.startup.uninstall import hand_back, remove_data, stop_and_unschedule, unsent
from agent.cli.options import Place, in_words, pass_place, say
from agent.errors import HomeError
from agent.settings import Home

__all__ = ["uninstall"]


@click.command()
@click.option("--delete-data", is_flag=True, help="Delete the home too: key, settings, pages.")
@click.option("--unsent", "even_unsent", is_flag=True, help="Also pages that the centre has not.")
@click.option("--without-manager", is_flag=True, help="Leave though the manager does not hear it.")
@pass_place
def uninstall(place: Place, delete_data: bool, even_unsent: bool, without_manager: bool) -> None:
    """Hand the work back, end the agent, and take away what starts it.

    The programs stay: delete their folder afterwards. Without --delete-data `prs resume` and `prs
    schedule` undo it.
    """
    home = Home(place.path)
    with in_words():
        settings = place.settings()
        if delete_data and not even_unsent and (waiting := unsent(home)):
            raise HomeError("agent_errors.segments_unsent", segments=len(waiting))
        if not without_manager:
            say(hand_back(settings))
        for line in stop_and_unschedule(settings):
            say(line)
        if delete_data:
            remove_data(place.path)
            say(f"{place.path} was deleted")
        else:
            say(f"{place.path} keeps settings, key and pages; --delete-data deletes them")
