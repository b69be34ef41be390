"""Completion of units: frees the agent's right and advances the order or the round.

Invariant: a claim counts only for a right that the agent has, of that kind and round, and that
stood in the list it holds. A late one, of a unit that has another owner now, changes nothing; what
it fetched comes with its log and is kept as data. A piece of a split host is not finished by its
own agent's word (`host_shares`).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Final

from manager.db.engine import Transaction
from manager.db.fleet import agents
from manager.db.fleet.agents import AgentRow
from manager.db.hosts import pieces
from manager.db.hosts.pieces import IdlePieceRow
from manager.db.measurement import measurements, refetch_orders
from manager.db.ownership import rights
from manager.db.ownership.rights import RightRow
from manager.db.planning import probes
from manager.db.rounds import round_units
from manager.db.rounds.round_units import FinishedRow
from manager.operations.hosts.crawl_delays import record_crawl_delays
from manager.operations.hosts.host_shares import finish_rested
from manager.operations.measurement.distances import note_unreachable, refresh_volumes
from shared.frozen import frozen
from shared.messages import Message
from shared.naming import HostFailure

__all__ = ["AgentCompletions", "CompletionClaim", "finish_all", "finish_units"]

UNREACHABLE: Final = "unreachable:"


@frozen
class CompletionClaim:
    """An agent's claim that a unit is fetched completely. reason: what it said, or ours."""

    unit_id: int
    kind: str
    round: int
    pages: int
    response_bytes: int
    reason: Message | str  # a text is the agent's own
    failure: str = ""  # not a single page came: a code (`shared.host_failures`)
    crawl_delay_ms: int | None = None  # of its host's robots.txt, 0: none; None: it was not read

    @property
    def failed_by(self) -> str:
        """Return the failure; that of an agent before 0.2 begins its reason, as its protocol says.

        A unit of which pages came is not failed, whatever ended it.
        """
        if self.failure:
            return self.failure
        said = self.reason if isinstance(self.reason, str) else ""
        unreachable = said.startswith(UNREACHABLE) and not self.response_bytes
        return HostFailure.UNREACHABLE.value if unreachable else ""


@frozen
class AgentCompletions:
    """Claims of one agent. generation_held: the list that it works from."""

    agent: AgentRow
    claims: Sequence[CompletionClaim]
    generation_held: int


@frozen
class _Good:
    """A claim that counts, and the right that it ends."""

    told: AgentCompletions
    claim: CompletionClaim
    right: RightRow


def finish_units(
    tx: Transaction,
    agent: AgentRow,
    claims: Sequence[CompletionClaim],
    generation_held: int,
    now_ms: int,
    *,
    log_came: bool = False,
) -> int:
    """Do `finish_all` for one agent."""
    return finish_all(
        tx, [AgentCompletions(agent, claims, generation_held)], now_ms, log_came=log_came
    )


def finish_all(
    tx: Transaction, told: Sequence[AgentCompletions], now_ms: int, *, log_came: bool = False
) -> int:
    """Note which units agents finished and free their rights; return how many counted.

    told: of each agent one. log_came: the logs of these units are in already, so their probes are
    done. Most agents finish crawls, which are written down together whosever they are.
    """
    good = _that_count(tx, told)
    if not good:
        return 0
    delays = [(one.claim.unit_id, one.told.agent.id, one.claim.crawl_delay_ms) for one in good]
    record_crawl_delays(tx, delays, now_ms)
    crawled = [one for one in good if one.right.kind == "crawl"]
    split = pieces.hosts_of_units(tx, {one.claim.unit_id for one in crawled})
    good = [one for one in good if one.claim.unit_id in split or _knows_news(one)]
    crawled = [one for one in good if one.right.kind == "crawl"]
    _finish_crawls(tx, [one for one in crawled if one.claim.unit_id not in split], now_ms)
    of_agent: dict[int, list[_Good]] = defaultdict(list)
    for one in good:
        of_agent[one.told.agent.id].append(one)
    for agent_id, some in of_agent.items():
        probed = [one.claim for one in some if one.right.kind == "probe"]
        _finish_probes(tx, agent_id, probed, now_ms, log_came=log_came)
        again = [one.claim for one in some if one.right.kind == "refetch"]
        refetch_orders.finish(tx, agent_id, [(one.unit_id, one.reason) for one in again], now_ms)
    ended = [one for one in good if one.claim.unit_id not in split]
    rights.free(tx, now_ms, rights.FINISHED, unit_ids=[one.claim.unit_id for one in ended])
    outrun = {one.told.agent.id for one in ended}
    agents.update(tx, sorted(outrun), list_outrun=True, last_work_ms=now_ms)
    agents.update(tx, sorted(of_agent.keys() - outrun), last_work_ms=now_ms)
    for some in of_agent.values():
        _let_rest(tx, [one for one in some if one.claim.unit_id in split], now_ms)
    return len(good)


def _that_count(tx: Transaction, told: Sequence[AgentCompletions]) -> list[_Good]:
    """Return the claims for rights that their agents have; of two for one unit the last."""
    held = {
        right.unit_id: right
        for right in rights.of_units(tx, {claim.unit_id for one in told for claim in one.claims})
    }
    good: dict[int, _Good] = {}
    for one in told:
        for claim in one.claims:
            right = held.get(claim.unit_id)
            if (
                right is not None
                and right.agent_id == one.agent.id
                and right.granted_generation <= one.generation_held
                and _answers(claim, right)
            ):
                good[claim.unit_id] = _Good(one, claim, right)
    return list(good.values())


def _knows_news(one: _Good) -> bool:
    """Return whether an agent had the newest start pages of a unit when it was done.

    It is sent them with its next list, and reports the unit again.
    """
    return (one.right.news_generation or 0) <= one.told.generation_held


def _let_rest(tx: Transaction, good: Sequence[_Good], now_ms: int) -> None:
    """Note that nothing is left of pieces of split hosts, and finish hosts of which nothing is.

    An agent without the newest start pages yet reports on the time before them.
    """
    of_round: dict[int, list[IdlePieceRow]] = defaultdict(list)
    for one in good:
        claim = one.claim
        if _knows_news(one):
            of_round[claim.round].append(
                IdlePieceRow(
                    unit_id=claim.unit_id,
                    agent_id=one.told.agent.id,
                    pages=claim.pages,
                    size_bytes=claim.response_bytes,
                    reason=claim.reason,
                )
            )
    for number, quiet in of_round.items():
        pieces.mark_idle(tx, number, quiet, now_ms)
    if good:
        finish_rested(tx, now_ms)


def _answers(claim: CompletionClaim, right: RightRow) -> bool:
    # A crawl that was limited in pages looks like a probe from the list that the agent was sent.
    limited = right.kind == "crawl" and right.max_transfer > 0 and claim.kind == "probe"
    return _is_of_round(claim, right) and (claim.kind == right.kind or limited)


def _is_of_round(claim: CompletionClaim, right: RightRow) -> bool:
    """Return whether a claim is of the round of a right, or of one that the right continues.

    The agent may have finished the unit before it heard that it was carried over.
    """
    first = right.round if right.continues is None else right.continues
    return first <= claim.round <= right.round


def _finish_probes(
    tx: Transaction,
    agent_id: int,
    claims: Sequence[CompletionClaim],
    now_ms: int,
    *,
    log_came: bool,
) -> None:
    """Note finished probes; those are done whose lines are in, or that brought nothing.

    That a probe failed is what an agent says in a sync, and that the host is unreachable from
    there. A probe that did not fail and brought no byte (robots.txt allows nothing, the host asks
    for more patience) has no distance: it is measured by its log, or predicted.
    """
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
            if claim.failed_by:
                silent[claim.round].append(claim.unit_id)
            done.append((claim.unit_id, claim.round))
    for number, unit_ids in silent.items():
        note_unreachable(tx, agent_id, unit_ids, number, now_ms)
    probes.set_done(tx, agent_id, done)


def _finish_crawls(tx: Transaction, good: Sequence[_Good], now_ms: int) -> None:
    done = [
        FinishedRow(one.claim.unit_id, one.told.agent.id, one.claim.round, one.claim.pages,
                    one.claim.response_bytes, one.claim.reason, one.claim.failed_by)
        for one in good
    ]  # fmt: skip
    round_units.finish_units(tx, done, now_ms)
    for number in {row.round for row in done}:
        refresh_volumes(tx, number, [row.unit_id for row in done if row.round == number])
