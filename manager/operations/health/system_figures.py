"""System figures for metrics and alerts, cheap enough for every few seconds."""

from __future__ import annotations

import shutil
from collections import Counter
from pathlib import Path

from manager.db.engine import Database
from manager.db.health import system_figures
from manager.db.health.system_figures import Totals
from manager.db.identity import leadership
from manager.db.rounds import rounds, tick_clock
from manager.operations.fleet.agent_summaries import AgentOverview, agent_overviews
from manager.operations.identity.managers import ServingManager, managers_of
from manager.operations.policy import Policy
from shared.frozen import frozen, values_of

__all__ = ["SystemFigures", "system_figures_of"]


@frozen
class SystemFigures(Totals):
    """Numbers of one moment; moments and counts are 0 where there is none."""

    epoch: int
    last_tick_ms: int
    held_until_ms: int
    disk_free_bytes: int | None
    disk_problem: str
    round: int
    has_hosts: bool
    last_round_ms: int
    last_backup_ms: int
    agents: dict[str, int]
    units: dict[str, int]
    transfers: dict[str, int]
    views: list[AgentOverview]
    managers: list[ServingManager]


def system_figures_of(db: Database, folder: Path, policy: Policy, now_ms: int) -> SystemFigures:
    """Return how things stand; how many units are in each state may be cached figures.

    folder: whose disk is looked at; where it cannot be, `disk_problem` says why. Raises BusyError.
    """
    free_bytes, problem = _disk(folder)
    views = agent_overviews(db, now_ms, policy)
    with db.read() as tx:
        current = rounds.open_round(tx)
    number = 0 if current is None else current.number
    units = {}
    if number:
        key = ("units of round", number)
        units = db.figure(key, lambda tx: system_figures.units(tx, number))
    backup_ms = db.figure("last backup", system_figures.last_backup_ms)
    with db.read() as tx:
        leader = leadership.current(tx)
        return SystemFigures(
            epoch=leader.epoch,
            last_tick_ms=tick_clock.last_tick(tx) or 0,
            held_until_ms=tick_clock.held_until(tx),
            disk_free_bytes=free_bytes,
            disk_problem=problem,
            round=rounds.last_number(tx),
            has_hosts=system_figures.has_hosts(tx),
            last_round_ms=system_figures.last_round_ms(tx),
            last_backup_ms=backup_ms,
            agents=dict(Counter(view.liveness.state.value for view in views)),
            units=units,
            transfers=system_figures.transfers_by_state(tx),
            views=views,
            managers=managers_of(tx),
            **values_of(system_figures.totals(tx)),
        )


def _disk(folder: Path) -> tuple[int | None, str]:
    """Return the free space of a disk, or None and the reason: a network share may be away."""
    try:
        return shutil.disk_usage(folder).free, ""
    except OSError as error:
        return None, str(error)
