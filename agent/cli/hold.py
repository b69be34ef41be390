"""`prs stop`, `drain`, `pause`, `resume`: how a partner holds his agent."""

from __future__ import annotations

from collections.abc import Callable

import click

from agent.cli.options import HomeOption, in_words, pass_home_option, print_text
from agent.control.drain import Holds, change_holds
from agent.control.lock import PATIENCE_S, end, holder_of
from agent.errors import HomeError
from agent.settings import Home

__all__ = ["drain", "pause", "resume", "stop"]


@click.command()
@click.option("--force", is_flag=True, help="Kill it when it does not stop; nothing kept is lost.")
@pass_home_option
def stop(home_option: HomeOption, force: bool) -> None:
    """Stop the agent that runs, within seconds and without loss; say who starts it again."""
    home = Home(home_option.path)
    with in_words():
        holder = holder_of(home.lock)
        if holder is None:
            print_text("no agent runs here")
            return
        if not end(home.lock, by_force=force):
            raise HomeError(
                "agent_errors.process_not_stopped", pid=holder.pid, patience_s=PATIENCE_S
            )
        from agent.app.startup.start_methods import describe_restart  # noqa: PLC0415  # only here

        restart = describe_restart(home_option.path, by_force=force)
        print_text(f"process {holder.pid} has stopped; {restart}")


@click.command()
@pass_home_option
def drain(home_option: HomeOption) -> None:
    """Begin nothing new, hand the work back to the manager, and stay so until `prs resume`."""
    with in_words():
        _change(home_option, lambda holds: holds.drain("site"))
    print_text(_present_state(home_option, "draining: what is not done goes to other agents"))


@click.command()
@pass_home_option
def pause(home_option: HomeOption) -> None:
    """Fetch nothing until `prs resume`; the work stays here while the agent calls the manager."""
    with in_words():
        _change(home_option, lambda holds: holds.pause("site"))
    print_text(_present_state(home_option, "paused"))


@click.command()
@pass_home_option
def resume(home_option: HomeOption) -> None:
    """Continue after `prs pause` or `prs drain`."""
    with in_words():
        holds = _change(home_option, lambda holds: holds.resume("site"))
    held = f", but {holds.reason}" if holds.paused else ""
    print_text(_present_state(home_option, f"resumed{held}"))


def _change(home_option: HomeOption, change: Callable[[Holds], Holds]) -> Holds:
    home = Home(home_option.path)
    home.make()
    return change_holds(home.hold, change)


def _present_state(home_option: HomeOption, text: str) -> str:
    if holder_of(Home(home_option.path).lock) is None:
        return f"{text}; no agent runs here now, the next one will know"
    return f"{text}; the agent that runs sees it within a second"
