"""`prs update` and `prs sync`: bring this installation up to date; call the manager once."""

from __future__ import annotations

import os
from pathlib import Path

import click

from agent.app.manager_link.single_sync import sync_once
from agent.cli.options import HomeOption, in_words, pass_home_option, print_text
from agent.control.launcher_program import launcher_words

__all__ = ["sync", "update"]


@click.command()
@click.option("--again", is_flag=True, help="Try also what failed or went back before.")
@click.option("--quiet", is_flag=True, help="Write only into the log; for cron.")
@click.option("--pin", metavar="VERSION", help='Stay on VERSION; "" ends that.')
@click.option(
    "--root",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    help="Trust this first root; from the administrator of the crawl.",
)
@pass_home_option
def update(
    home_option: HomeOption, again: bool, quiet: bool, pin: str | None, root: Path | None
) -> None:
    """Install the release that the manager offers, if people signed it; go back if it fails."""
    with in_words():
        words = launcher_words(home_option.path)
    words += ["--again"] if again else []
    words += ["--quiet"] if quiet else []
    words += ["--pin", pin] if pin is not None else []
    words += ["--root", str(root.absolute())] if root is not None else []
    os.execv(words[0], words)  # noqa: S606 - an interpreter of ours, no shell


@click.command()
@pass_home_option
def sync(home_option: HomeOption) -> None:
    """Call the manager once, and say what it answered; exit code 0 means that it did."""
    with in_words():
        answer = sync_once(home_option.settings())
    print_text(f"answered: round {answer.round}, list {answer.generation}")
