"""`prs rekey`: replace this agent's key."""

from __future__ import annotations

import click

from agent.app.startup.agent_run import identity_of, renew_key
from agent.cli.options import HomeOption, in_words, pass_home_option, print_text
from agent.control.lock import HomeLock
from agent.settings import Home

__all__ = ["rekey"]


@click.command()
@pass_home_option
def rekey(home_option: HomeOption) -> None:
    """Make a new key for this agent; the manager forgets the old one. Stop the agent first.

    No token is needed, and the work stays. The same command again ends what a crash left.
    """
    with in_words():
        settings = home_option.settings()
        home = Home(settings.home)
        identity_of(settings)  # whoever never joined hears that, and not of a lock
        lock = HomeLock.take(home.lock)
        try:
            renewed = renew_key(settings, identity_of(settings))
        finally:
            lock.release()
    print_text(f"{renewed.name} has a new key, and {renewed.manager} knows no other")
