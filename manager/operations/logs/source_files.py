"""The files of the source, made from the tables and the logs.

    log-sums    logs/AGENT        URL volume time     what its logs say, sorted by URL
    distances   distance/AGENT    server distance     ms per KByte, `inf`: unreachable
    volumes     document.txt      server volume       KBytes of the newest crawl
    costs       cost/AGENT        server cost         ms: volume x distance, `inf`: unreachable
    lists       random/AGENT      server              what it owns now

Words are separated by one space, volumes and costs have three decimals, distances six. A server is
written as `operations.hosts.server_names` says. A pair without a measurement has no line. `costs`
and `lists` also give an `agent:cost:units` line for each agent, as distribution.pl of the source.
Invariant: all files of one export show one state of the database; memory is bounded.
Source: seed 004, section 5.2.2.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Final

from manager.db.engine import Database, Transaction
from manager.db.fleet import agents
from manager.db.fleet.agents import AgentRow
from manager.db.logs import reports, source_files
from manager.db.measurement import measurements
from manager.errors import ConflictError, NotFoundError
from manager.operations.actor import Actor, note_alone
from manager.operations.hosts.server_names import server_name
from manager.operations.logs.log_scratch import LogWorkspace
from manager.store import merge_logs
from manager.store.durable_files import full_disk_said, open_new
from shared.frozen import frozen

__all__ = ["KINDS", "TOTALS", "ExportFile", "export"]

KINDS: Final = ("log-sums", "distances", "volumes", "costs", "lists")
TOTALS: Final = "agents.txt"
"""The `agent:cost:units` lines; the source prints them and has no file of them."""


@frozen
class ExportFile:
    """One file: its name as the source has it, and where it lies until it is sent."""

    name: str
    path: Path


def export(
    db: Database, kind: str, workspace: LogWorkspace, actor: Actor, now_ms: int
) -> list[ExportFile]:
    """Write the files of one kind into a folder and return them, in the order of their names.

    Agents that were retired have none. Raises NotFoundError for another kind, ConflictError where
    a log is gone or an agent's name cannot be a file's, StoreFullError.
    """
    if kind not in KINDS:
        raise NotFoundError(
            "general.unknown_choice", name="export", value=kind[:40], known=tuple(KINDS)
        )
    files = _Files(workspace.folder)
    with db.read() as tx, full_disk_said(workspace.folder):
        known = [row for row in agents.all_agents(tx) if row.retired_ms is None]
        known.sort(key=lambda row: row.name)
        logs = _MAKE[kind](tx, known, files)
    # Merging takes minutes and needs no transaction: a log that was taken never changes. It may be
    # let go of meanwhile (`log_retention`): each agent's are asked for when it is their turn.
    with full_disk_said(workspace.folder):
        for agent in logs:
            with db.read() as tx:
                paths = reports.log_paths(tx, agent.id)
                probed = measurements.counted_probes(tx, agent.id)
            _merge(agent, paths, probed, workspace, files)
    note_alone(db, now_ms, actor, f"export.{kind}", "", files=len(files.made))
    return files.made


class _Files:
    """The files of one export, numbered in their folder: names of agents are no paths here."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.made: list[ExportFile] = []

    def add(self, name: str) -> Path:
        """Return where to write the next file."""
        path = self._folder / str(len(self.made))
        self.made.append(ExportFile(name, path))
        return path

    def write(self, name: str, lines: Iterable[str]) -> None:
        """Write a file of lines."""
        with open_new(self.add(name)) as file:
            file.writelines(f"{line}\n".encode() for line in lines)


_Logs = list[AgentRow]
_Make = Callable[[Transaction, list[AgentRow], _Files], _Logs]


def _log_sums(tx: Transaction, known: list[AgentRow], files: _Files) -> _Logs:
    return known


def _merge(
    agent: AgentRow,
    paths: list[str],
    probed: list[tuple[str, int]],
    workspace: LogWorkspace,
    files: _Files,
) -> None:
    found = [workspace.kept / path for path in paths]
    gone = next((path for path in found if not path.is_file()), None)
    if gone is not None:
        raise ConflictError("logs.file_missing", path=str(gone), agent=agent.name)
    target = files.add(_of("logs", agent))
    merge_logs(
        found,
        target,
        memory_bytes=workspace.memory_bytes,
        spill=workspace.folder,
        probed=probed,
    )


def _distances(tx: Transaction, known: list[AgentRow], files: _Files) -> _Logs:
    for agent in known:
        pairs = source_files.distances_of(tx, agent.id)
        files.write(_of("distance", agent), _measured(pairs, 6))
    return []


def _volumes(tx: Transaction, known: list[AgentRow], files: _Files) -> _Logs:
    files.write("document.txt", _measured(source_files.volumes(tx), 3))
    return []


def _costs(tx: Transaction, known: list[AgentRow], files: _Files) -> _Logs:
    for agent in known:
        files.write(_of("cost", agent), _measured(source_files.costs_of(tx, agent.id), 3))
    _totals(tx, known, files)
    return []


def _lists(tx: Transaction, known: list[AgentRow], files: _Files) -> _Logs:
    for agent in known:
        names = (server_name(key) for key in source_files.owned_keys(tx, agent.id))
        files.write(_of("random", agent), names)
    _totals(tx, known, files)
    return []


def _totals(tx: Transaction, known: list[AgentRow], files: _Files) -> None:
    totals = source_files.owner_totals(tx)
    lines = []
    for agent in known:
        cost_ms, units = totals.get(agent.id, (0.0, 0))
        lines.append(f"{agent.name}:{cost_ms:.3f}:{units}")
    files.write(TOTALS, lines)


def _measured(pairs: Iterable[tuple[str, float | None]], decimals: int) -> Iterator[str]:
    for key, value in pairs:
        written = "inf" if value is None else f"{value:.{decimals}f}"
        yield f"{server_name(key)} {written}"


def _of(folder: str, agent: AgentRow) -> str:
    if not agent.name.strip("."):
        raise ConflictError("logs.name_is_no_file", agent=agent.name)
    return f"{folder}/{agent.name}"


_MAKE: Final[dict[str, _Make]] = {
    "log-sums": _log_sums,
    "distances": _distances,
    "volumes": _volumes,
    "costs": _costs,
    "lists": _lists,
}
