"""Agents by the names that people type."""

from __future__ import annotations

from manager.db.engine import Transaction
from manager.db.fleet import agents
from manager.db.fleet.agents import AgentRow
from manager.errors import NotFoundError

__all__ = ["agent_named"]


def agent_named(tx: Transaction, name: str, see: str = "agents") -> AgentRow:
    """Return an agent by name. see: the command that lists agents. Raises NotFoundError."""
    row = agents.by_name(tx, name)
    if row is None:
        raise NotFoundError("general.unknown_agent", agent=name[:253], see=see)
    return row
