"""`prs stop`, `drain`, `pause`, `resume`: how a partner holds his agent."""

from __future__ import annotations

from collections.abc import Callable

import click

from agent.cli.options import Place, in_words, pass_place, say
from agent.control.drain import Holds, change_holds
from agent.control.lock import PATIENCE_S, end, holder_of
from agent.errors import HomeError
from agent.settings import Home

__all__ = ["drain", "pause", "resume", "stop"]


@click.command()
@click.option("--force", is_flag=True, help="Kill it when it does not stop; nothing kept is lost.")
@pass_place
def stop(place: Place, force: bool) -> None:
    """Stop the agent that runs, within seconds and without loss; say who starts it again."""
    home = Home(place.path)
    with in_words():
        holder = holder_of(home.lock)
        if holder is None:
            say("no agent runs here")
            return
        if not end(home.lock, by_force=force):
            raise HomeError(
                "agent_errors.process_not_stopped", pid=holder.pid, patience_s=PATIENCE_S
            )
        from agent.app.startup.start_methods import start_method_again  # noqa: PLC0415  # only here

        say(f"process {holder.pid} has stopped; {start_method_again(place.path, by_force=force)}")


@click.command()
@pass_place
def drain(place: Place) -> None:
    """Begin nothing new, hand the work back to the manager, and stay so until `prs resume`."""
    with in_words():
        _change(place, lambda holds: holds.drain("site"))
    say(_present_state(place, "draining: what is not done goes to other agents"))


@click.command()
@pass_place
def pause(place: Place) -> None:
    """Fetch nothing until `prs resume`; the work stays here while the agent calls the manager."""
    with in_words():
        _change(place, lambda holds: holds.pause("site"))
    say(_present_state(place, "paused"))


@click.command()
@pass_place
def resume(place: Place) -> None:
    """Continue after `prs pause` or `prs drain`."""
    with in_words():
        holds = _change(place, lambda holds: holds.resume("site"))
    held = f", but {holds.reason}" if holds.paused else ""
    say(_present_state(place, f"resumed{held}"))


def _change(place: Place, change: Callable[[Holds], Holds]) -> Holds:
    home = Home(place.path)
    home.make()
    return change_holds(home.hold, change)


def _present_state(place: Place, text: str) -> str:
    if holder_of(Home(place.path).lock) is None:
        return f"{text}; no agent runs here now, the next one will know"
    return f"{text}; the agent that runs sees it within a second"
