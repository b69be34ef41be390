"""`prs run`: the agent itself."""

from __future__ import annotations

import click

from agent.cli.options import (
    REFUSED,
    UNREACHABLE,
    HomeOption,
    in_words,
    pass_home_option,
    print_text,
    set_option,
)
from agent.cli.terminal import Terminal
from agent.control.lock import healthy_holder, lead_a_group
from agent.settings.home import Home
from shared.messages import Message

__all__ = ["run"]


@click.command()
@click.option("--once", is_flag=True, help="End when all is finished and reported; for cron.")
@click.option("--quiet", is_flag=True, help="Say nothing but what is wrong.")
@click.option("--replace", is_flag=True, help="End a process that works in this home already.")
@click.option(
    "--replace-hung",
    is_flag=True,
    help="End it only if it hangs; else leave it alone, exit code 0.",
)
@set_option
@pass_home_option
def run(
    home_option: HomeOption,
    once: bool,
    quiet: bool,
    replace: bool,
    replace_hung: bool,
    overrides: tuple[str, ...],
) -> None:
    """Crawl for the manager until SIGTERM, `prs stop`, or with --once until all is done."""
    terminal = Terminal(quiet=quiet)
    lead_a_group()
    with in_words():
        settings = home_option.settings(overrides)
        if replace_hung and not replace and (other := healthy_holder(Home(settings.home).lock)):
            # What cron finds each hour of a night; nothing of an agent is imported for it.
            terminal.end(f"stopped: {Message('agent.works_already', pid=other.pid)}")
            return
        from agent.app.startup.page_worker_fork_server import fork_server  # noqa: PLC0415  # see above

        with fork_server(settings) as page_workers:
            # None of this is the page workers'.
            from agent.app.startup.agent_run import run_agent  # noqa: PLC0415
            from agent.app.startup.composition import RunOptions  # noqa: PLC0415
            from agent.settings import renamed_settings  # noqa: PLC0415

            run_options = RunOptions(
                once=once,
                show_status=terminal.show_status,
                reread=lambda: home_option.settings(overrides),
                renamed=lambda: renamed_settings(home_option.path, overrides),
                fork_server=page_workers,
            )
            try:
                result = run_agent(
                    settings,
                    run_options,
                    replace="always" if replace else "hung" if replace_hung else "never",
                    log_line=terminal.log_line,
                )
            finally:
                terminal.clear()
    terminal.end(f"stopped: {result.reason}")
    if result.refused:
        raise SystemExit(_failed(result.refused, REFUSED))
    if result.unreached:
        raise SystemExit(_failed(result.unreached, UNREACHABLE))


def _failed(reason: Message, code: int) -> int:
    print_text(f"Error: {reason}", err=True)
    return code
