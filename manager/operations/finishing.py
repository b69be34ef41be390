"""Units that an agent has finished: its right is free, the order or the round goes on.

Invariant: a claim counts only for a right that the agent has, of that kind and round, and that
stood in the list it holds. A late one, of a unit that is another's by now, changes nothing; what
it fetched comes with its log and is kept as data. A piece of a split host is not finished by its
own agent's word (`sharing`).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from manager.db import agents, measurements, pieces, probes, refetching, rights, rounds
from manager.db.agents import AgentRow
from manager.db.engine import Transaction
from manager.db.pieces import QuietRow
from manager.db.rights import RightRow
from manager.db.rounds import FinishedRow
from manager.operations.measuring import note_unreachable, refresh_volumes
from manager.operations.sharing import finish_rested

__all__ = ["Claim", "finish_units"]


@dataclass(frozen=True, slots=True)
class Claim:
    """What an agent says of a unit: all of it is fetched that was asked for."""

    unit_id: int
    kind: str
    round: int
    pages: int
    response_bytes: int
    reason: str


def finish_units(
    tx: Transaction,
    agent: AgentRow,
    claims: Sequence[Claim],
    generation_held: int,
    now_ms: int,
    *,
    log_came: bool = False,
) -> int:
    """Note which units an agent finished and free their rights; return how many counted.

    generation_held: the list that the agent works from. log_came: the log of these units is in
    already, so their probes are done.
    """
    held = {
        right.unit_id: right
        for right in rights.of_units(tx, {claim.unit_id for claim in claims})
        if right.agent_id == agent.id and right.granted_generation <= generation_held
    }
    # Of two claims for one unit the last is the newer.
    good = {
        claim.unit_id: claim
        for claim in claims
        if claim.unit_id in held and _answers(claim, held[claim.unit_id])
    }
    if not good:
        return 0
    probed = [claim for claim in good.values() if held[claim.unit_id].kind == "probe"]
    crawled = [claim for claim in good.values() if held[claim.unit_id].kind == "crawl"]
    refetched = [claim for claim in good.values() if held[claim.unit_id].kind == "refetch"]
    split = pieces.hosts_of_units(tx, {claim.unit_id for claim in crawled})
    at_rest = [claim for claim in crawled if claim.unit_id in split]
    _finish_probes(tx, agent.id, probed, now_ms, log_came=log_came)
    _finish_crawls(tx, agent.id, [one for one in crawled if one.unit_id not in split], now_ms)
    refetching.finish(tx, agent.id, [(one.unit_id, one.reason) for one in refetched], now_ms)
    ended = [unit_id for unit_id in good if unit_id not in split]
    rights.free(tx, now_ms, "finished", agent_id=agent.id, unit_ids=ended)
    agents.update(tx, agent.id, list_outrun=bool(ended) or agent.list_outrun, last_work_ms=now_ms)
    _let_rest(tx, agent.id, at_rest, held, generation_held, now_ms)
    return len(good)


def _let_rest(
    tx: Transaction,
    agent_id: int,
    claims: Sequence[Claim],
    held: Mapping[int, RightRow],
    generation_held: int,
    now_ms: int,
) -> None:
    """Note that nothing is left of pieces of split hosts, and finish hosts of which nothing is.

    Who has not heard of the newest start pages yet speaks of the time before them.
    """
    of_round: dict[int, list[QuietRow]] = defaultdict(list)
    for claim in claims:
        if (held[claim.unit_id].news_generation or 0) <= generation_held:
            of_round[claim.round].append(
                QuietRow(claim.unit_id, agent_id, claim.pages, claim.response_bytes, claim.reason)
            )
    for number, quiet in of_round.items():
        pieces.note_quiet(tx, number, quiet, now_ms)
    if claims:
        finish_rested(tx, now_ms)


def _answers(claim: Claim, right: RightRow) -> bool:
    # A crawl that was limited in pages looks like a probe from the list that the agent was sent.
    limited = right.kind == "crawl" and right.max_transfer > 0 and claim.kind == "probe"
    return claim.round == right.round and (claim.kind == right.kind or limited)


def _finish_probes(
    tx: Transaction, agent_id: int, claims: Sequence[Claim], now_ms: int, *, log_came: bool
) -> None:
    probes.finish(
        tx,
        agent_id,
        [(claim.unit_id, claim.round, claim.pages, claim.reason) for claim in claims],
        now_ms,
    )
    logged = {
        (row.unit_id, row.round)
        for row in measurements.sums_of_agent(tx, agent_id, [one.unit_id for one in claims])
        if row.kind == "probe"
    }
    silent: dict[int, list[int]] = defaultdict(list)
    done = []
    for claim in claims:
        if log_came or (claim.unit_id, claim.round) in logged:
            done.append((claim.unit_id, claim.round))
        elif not claim.response_bytes:
            silent[claim.round].append(claim.unit_id)
            done.append((claim.unit_id, claim.round))
    for number, unit_ids in silent.items():
        note_unreachable(tx, agent_id, unit_ids, number, now_ms)
    probes.set_done(tx, agent_id, done)


def _finish_crawls(tx: Transaction, agent_id: int, claims: Sequence[Claim], now_ms: int) -> None:
    rounds.finish_units(
        tx,
        agent_id,
        [
            FinishedRow(claim.unit_id, claim.round, claim.pages, claim.response_bytes, claim.reason)
            for claim in claims
        ],
        now_ms,
    )
    of_round: dict[int, list[int]] = defaultdict(list)
    for claim in claims:
        of_round[claim.round].append(claim.unit_id)
    for number, unit_ids in of_round.items():
        refresh_volumes(tx, number, unit_ids)
