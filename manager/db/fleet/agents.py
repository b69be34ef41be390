"""Agents as rows: by key, by name, and what changes on them. Their lists are in `rights`."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final

import sqlalchemy as sa

from manager.db.tables import agents
from manager.db.transaction import Transaction, chunks
from shared.frozen import frozen
from shared.messages import Message

__all__ = [
    "SAID_NOTHING",
    "TAKES_PART",
    "AgentName",
    "AgentRow",
    "AgentSummary",
    "active",
    "add",
    "add_load",
    "all_agents",
    "any_agent",
    "by_id",
    "by_ids",
    "by_key",
    "by_name",
    "doubted",
    "ids_taking_part",
    "named",
    "names",
    "out_of_permit",
    "raise_generation",
    "raise_generations",
    "returned",
    "silent_or_gone",
    "update",
    "update_each",
    "with_changed_lists",
]


@frozen
class AgentSummary:
    """Identity, state and position of an agent; `manager.db.tables.fleet` defines each field."""

    id: int
    name: str
    kind: str
    joined_ms: int
    retired_ms: int | None
    subscribed: bool
    last_contact_ms: int | None
    last_work_ms: int | None
    promised_ms: int | None
    permit_until_ms: int
    state: str
    latitude: float | None
    longitude: float | None

    @property
    def is_plain(self) -> bool:
        """Return whether it speaks only the five messages."""
        return self.kind == "plain"


@frozen
class AgentRow(AgentSummary):
    """All that is kept of an agent."""

    key_hash: str | None
    lost_ms: int | None
    last_contact: str
    boot_id: str
    sequence: int
    clone_reason: Message | None
    version: str
    state_reason: Message | None
    skew_ms: int
    disk_free_bytes: int | None
    capacity: str
    reports_waiting: int
    counters: str
    update_result: Message | None
    round_held: int
    generation: int
    generation_held: int
    fence_generation: int
    list_changed: bool
    list_outrun: bool
    list_sent_ms: int | None
    list_sent_generation: int
    log_since_list: bool
    says_finished: bool
    list_limit: int | None
    permit_epoch: int
    returned: bool
    rejoined: bool
    permit_set_ms: int | None
    load_ms: float
    suspect_since_ms: int | None
    suspect_reason: Message | None
    doubts: str
    believed_age: int
    history_age: int
    refetches: bool
    reopens: bool
    unit_rounds: bool
    refetch_round: int
    refetch_compared: int
    refetch_contradicted: int
    shared_held: int | None
    restart_ordered_ms: int | None
    restart_handled_ms: int | None
    restart_asked_ms: int | None
    command_id: str
    command: str
    command_argument: str
    command_ordered_ms: int | None
    command_done_ms: int | None
    discovered_day: int
    discovered: int
    serving_url: str
    serving_fingerprint: str
    renamed_settings: str
    sending: str

    @property
    def takes_part(self) -> bool:
        """Return whether it may own units: joined, not left, not retired, not given up."""
        return self.subscribed and self.retired_ms is None and self.lost_ms is None


@frozen
class AgentName:
    """Identity of an agent, for lists of names."""

    id: int
    name: str
    is_plain: bool
    is_retired: bool
    takes_part: bool


SAID_NOTHING: Final[Mapping[str, Any]] = MappingProxyType(
    {
        "version": "",
        "state": "",
        "state_reason": "",
        "skew_ms": 0,
        "disk_free_bytes": None,
        "capacity": "",
        "reports_waiting": 0,
        "counters": "",
        "update_result": "",
        "promised_ms": None,
        "refetches": False,
        "shared_held": None,
        "reopens": False,
        "renamed_settings": "",
        "serving_url": "",
        "serving_fingerprint": "",
        "command_id": "",
        "command": "",
        "command_argument": "",
        "command_ordered_ms": None,
        "command_done_ms": None,
    }
)
"""Values of an agent that has said nothing of itself in a sync, and was told nothing."""

_BY_ID: Final = sa.select(agents).where(agents.c.id == sa.bindparam("id"))
_BY_IDS: Final = sa.select(agents).where(agents.c.id.in_(sa.bindparam("ids", expanding=True)))
_BY_KEYS: Final = sa.select(agents).where(
    agents.c.key_hash.in_(sa.bindparam("hashes", expanding=True))
)


TAKES_PART: Final = (
    agents.c.subscribed,
    agents.c.retired_ms.is_(None),
    agents.c.lost_ms.is_(None),
)
"""Conditions of an agent that may own units."""
_ACTIVE: Final = sa.select(sa.func.count()).select_from(agents).where(*TAKES_PART)
_TAKING_PART: Final = sa.select(agents.c.id).where(*TAKES_PART)
_ALL: Final = sa.select(agents).order_by(agents.c.id)
# Written out, as the index has it.
_DOUBTED: Final = _ALL.where(agents.c.doubts != sa.literal_column("''"))
_RETURNED: Final = _ALL.where(agents.c.returned)
_OUT_OF_PERMIT: Final = _ALL.where(
    agents.c.permit_until_ms > 0, agents.c.permit_until_ms <= sa.bindparam("now_ms")
)
_SILENT_OR_GONE: Final = _ALL.where(
    sa.or_(
        agents.c.permit_until_ms <= sa.bindparam("now_ms"),
        sa.not_(agents.c.subscribed),
        agents.c.retired_ms.is_not(None),
        agents.c.lost_ms.is_not(None),
    )
)
_WITH_CHANGED_LISTS: Final = (
    sa.select(agents.c.id).where(agents.c.list_changed).order_by(agents.c.id)
)


def by_id(tx: Transaction, agent_id: int) -> AgentRow | None:
    """Return the agent with this number."""
    return tx.row(AgentRow, _BY_ID, {"id": agent_id})


def by_ids(tx: Transaction, agent_ids: Collection[int]) -> dict[int, AgentRow]:
    """Return the agents with these numbers."""
    parts = chunks(agent_ids)
    return {row.id: row for part in parts for row in tx.rows(AgentRow, _BY_IDS, {"ids": part})}


def any_agent(tx: Transaction) -> bool:
    """Return whether there is any agent."""
    return tx.value(sa.select(agents.c.id).limit(1)) is not None


def by_name(tx: Transaction, name: str) -> AgentRow | None:
    """Return the agent of this name."""
    return tx.row(AgentRow, sa.select(agents).where(agents.c.name == name))


def by_key(tx: Transaction, key_hash: str) -> AgentRow | None:
    """Return the agent whose key has this hash."""
    return tx.row(AgentRow, sa.select(agents).where(agents.c.key_hash == key_hash))


def by_keys(tx: Transaction, key_hashes: Collection[str]) -> Iterator[AgentRow]:
    """Yield the agents whose keys have these hashes."""
    for part in chunks(key_hashes):
        yield from tx.rows(AgentRow, _BY_KEYS, {"hashes": part})


def all_agents(tx: Transaction) -> list[AgentRow]:
    """Return all agents by number, retired ones too."""
    return tx.rows(AgentRow, _ALL)


def doubted(tx: Transaction) -> list[AgentRow]:
    """Return the agents some claims of which are doubted, or were, by number."""
    return tx.rows(AgentRow, _DOUBTED)


def out_of_permit(tx: Transaction, now_ms: int) -> list[AgentRow]:
    """Return the agents whose permit is over, and was not ended yet."""
    return tx.rows(AgentRow, _OUT_OF_PERMIT, {"now_ms": now_ms})


def silent_or_gone(tx: Transaction, now_ms: int) -> list[AgentRow]:
    """Return the agents that have no permit now, and those that take no part."""
    return tx.rows(AgentRow, _SILENT_OR_GONE, {"now_ms": now_ms})


def returned(tx: Transaction) -> list[AgentRow]:
    """Return the agents that came back, and whose units were not looked for yet."""
    return tx.rows(AgentRow, _RETURNED)


def active(tx: Transaction) -> int:
    """Return how many agents take part."""
    return int(tx.value(_ACTIVE))


def ids_taking_part(tx: Transaction) -> list[int]:
    """Return the numbers of the agents that take part."""
    return tx.values(_TAKING_PART)


def names(tx: Transaction) -> dict[int, str]:
    """Return the names of all agents by number."""
    return dict(tx.tuples(sa.select(agents.c.id, agents.c.name)))


def named(tx: Transaction) -> list[AgentName]:
    """Return who all agents are, by name."""
    retired = agents.c.retired_ms.is_not(None)
    part = sa.and_(agents.c.subscribed, ~retired, agents.c.lost_ms.is_(None))
    rows = tx.rows(
        AgentName,
        sa.select(
            agents.c.id,
            agents.c.name,
            (agents.c.kind == "plain").label("is_plain"),
            retired.label("is_retired"),
            part.label("takes_part"),
        ),
    )
    return sorted(rows, key=lambda one: one.name)


def add(tx: Transaction, name: str, kind: str, key_hash: str | None, now_ms: int) -> int:
    """Add an agent and return its number."""
    return tx.add(agents, name=name, kind=kind, key_hash=key_hash, joined_ms=now_ms)


def update(tx: Transaction, agent_ids: int | Sequence[int], **values: Any) -> None:
    """Set columns of one agent, or of some."""
    if isinstance(agent_ids, int):
        agent_ids = [agent_ids]
    if agent_ids:
        tx.execute(agents.update().where(agents.c.id.in_(agent_ids)).values(**values))


def update_each(tx: Transaction, changes: Sequence[Mapping[str, Any]]) -> None:
    """Set the same columns of some agents, each to its own values; `id` says whose they are."""
    tx.update_each(agents, ["id"], changes)


def add_load(tx: Transaction, added_ms: Mapping[int, float]) -> None:
    """Add to what it is estimated to cost agents to fetch what they own."""
    if added_ms:
        tx.execute(
            agents.update()
            .where(agents.c.id == sa.bindparam("agent"))
            .values(load_ms=agents.c.load_ms + sa.bindparam("added", type_=sa.Float())),
            [{"agent": agent, "added": added} for agent, added in added_ms.items()],
        )


def with_changed_lists(tx: Transaction) -> list[int]:
    """Return the agents whose rights were given or withdrawn since their generation was raised."""
    return tx.values(_WITH_CHANGED_LISTS)


def raise_generation(tx: Transaction, agent_id: int) -> None:
    """Put the changes since the last list into a new one: the next generation."""
    raise_generations(tx, [agent_id])


def raise_generations(tx: Transaction, agent_ids: Sequence[int]) -> None:
    """Raise the generation of some agents."""
    update(
        tx,
        agent_ids,
        generation=agents.c.generation + 1,
        list_changed=False,
        list_outrun=False,
    )
