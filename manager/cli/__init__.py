"""`prsm`: run a manager, and act on one from its own machine.

All commands but `serve`, `settings`, `explain-tree` and those of keys (`release`) go over `/api/v1`
through the Unix socket in the data directory, as the local administrator. Exit codes: 0 done, 1
refused, 2 usage, 3 not reachable.
"""

from __future__ import annotations

from copy import copy
from pathlib import Path

import click

from manager.cli.alerts import alerts
from manager.cli.archive.archive import archive, compact, mirrors, withdraw
from manager.cli.archive.collection import collect
from manager.cli.backups import backup, restore
from manager.cli.check import check
from manager.cli.explain_tree import explain_tree
from manager.cli.exports import export
from manager.cli.fleet.agents import agents
from manager.cli.fleet.fleet_rules import fleet
from manager.cli.fleet.lists import lists
from manager.cli.hosts.hosts import hosts
from manager.cli.hosts.scope import scope
from manager.cli.logs import activity, logs, reports
from manager.cli.managers import managers
from manager.cli.migrate import migrate
from manager.cli.options import Target
from manager.cli.people.audit_log import audit
from manager.cli.people.clients import clients
from manager.cli.people.tokens import tokens
from manager.cli.people.users import users
from manager.cli.planning.plans import plan, plans
from manager.cli.planning.probes import probes
from manager.cli.releases.releases import release
from manager.cli.rounds.rounds import rounds
from manager.cli.search import search
from manager.cli.serve import serve, settings
from manager.cli.status import status
from shared.program import Program

__all__ = ["main"]


@click.group(cls=Program, context_settings={"help_option_names": ["-h", "--help"]})
@click.option(
    "--data",
    type=click.Path(path_type=Path, file_okay=False),
    envvar="PRSM_DATA",
    default=Path("prsm-data"),
    show_default=True,
    help="The manager's data directory; also PRSM_DATA.",
)
@click.option(
    "--config",
    type=click.Path(path_type=Path, dir_okay=False),
    help="A settings file instead of prsm.toml in the data directory.",
)
@click.version_option(package_name="prsm", message="prsm %(version)s")
@click.pass_context
def main(context: click.Context, data: Path, config: Path | None) -> None:
    """The manager of a cooperative web crawler.

    Exit codes: 0 done, 1 refused, 2 usage, 3 no manager reachable.
    """
    context.obj = context.obj or Target(data, config)


for _command in (
    serve,
    settings,
    backup,
    restore,
    migrate,
    status,
    activity,
    search,
    managers,
    alerts,
    fleet,
    hosts,
    scope,
    lists,
    agents,
    clients,
    archive,
    withdraw,
    compact,
    mirrors,
    rounds,
    plan,
    plans,
    explain_tree,
    probes,
    users,
    tokens,
    check,
    audit,
    logs,
    reports,
    export,
    collect,
    release,
):
    main.add_command(_command)

# Names of before 0.2, which scripts may have: accepted, and not shown.
for _group, _old, _name in (
    (agents, "believe", "trust"),
    (alerts, "speak", "end-silence"),
    (collect, "give-up", "cancel-transfer"),
):
    _hidden = copy(_group.commands[_name])
    _hidden.hidden = True
    _group.add_command(_hidden, _old)
