"""Model of the right to fetch one unit: its states, and its passage from agent to agent.

Tests compare `manager.db.ownership.rights`, which does the same to sets of rows, with it.

Invariant: at every moment at most one agent can believe that it may fetch the unit. A right goes
from X to Y only through `Free`, and it becomes free only when X can no longer believe in it:

- X acknowledged the generation of its list in which the unit no longer stands, or
- X reported the unit finished (it never fetches it again in the same round), or
- X's permit is over (see `manager.assignment.permits`), or
- no list that names the unit was ever written.

What an agent must do for its part:

- hold one list at a time, and take none that is older than the one it holds or than one that a
  sync answer told it of;
- take the permit of a sync answer only for the list that the sync named as held, or for one at
  least as new as the answer's generation;
- acknowledge a generation only once no request to a unit that it does not name is under way;
- remember the finished units until the round changes, and forget its permit at a reboot.

A list must name exactly the units of `stands_in`, whenever it is written.

Hosts on one address are kept together by `may_grant`, over the whole group; the pieces of a split
host, alone at its address, are the exception (`manager.assignment.host_shares`). Each function
returns the next state.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum
from typing import TypeAlias

from shared.frozen import frozen

__all__ = [
    "Free",
    "Granted",
    "Kind",
    "Right",
    "RightError",
    "Withdrawn",
    "acknowledge",
    "end_at_agent",
    "finish",
    "grant",
    "holder",
    "may_grant",
    "permit_over",
    "stands_in",
    "withdraw",
]


class RightError(Exception):
    """Another agent may still be fetching the unit."""


class Kind(StrEnum):
    """Purpose of a holder."""

    CRAWL = "crawl"
    PROBE = "probe"
    REFETCH = "refetch"  # some of its pages once more, to be compared


@frozen
class Free:
    """The unit is free."""


@frozen
class Granted:
    """`agent` may fetch the unit; its list of `granted_generation` is the first to name it."""

    agent: int
    kind: Kind
    round: int
    granted_generation: int


@frozen
class Withdrawn:
    """`agent` may still be fetching; its lists from `withdrawn_generation` on lack the unit."""

    agent: int
    kind: Kind
    round: int
    granted_generation: int
    withdrawn_generation: int


Right: TypeAlias = Free | Granted | Withdrawn

FREE = Free()


def holder(right: Right) -> int | None:
    """Return the only agent that may believe it holds the right, or None."""
    return None if isinstance(right, Free) else right.agent


def may_grant(group: Iterable[Right], agent: int, shares: int = 1) -> bool:
    """Return whether an agent may be given a unit of a group, by the rights of all its units.

    An address sees one agent: no other may hold, or still be giving up, any unit of the group.
    shares: of a split host so many agents at once, each with that part of its rate.
    """
    holders = {holder(right) for right in group} - {None}
    return len(holders | {agent}) <= shares


def stands_in(right: Right, agent: int, generation: int) -> bool:
    """Return whether an agent's list of a generation names the unit.

    Rights granted since the generation was raised wait for the next one: else a withdrawal
    before that could not know that a list had named them.
    """
    if isinstance(right, Free) or right.agent != agent or right.granted_generation > generation:
        return False
    return isinstance(right, Granted) or right.withdrawn_generation > generation


def grant(right: Right, agent: int, kind: Kind, round_number: int, next_generation: int) -> Granted:
    """Grant a free unit to an agent; its list of `next_generation` is the first to name it.

    Raises RightError where the unit is not free: also where the same agent is giving it up, for
    its lists before and after the withdrawal could no longer be told apart.
    """
    match right:
        case Free():
            return Granted(agent, kind, round_number, next_generation)
        case Granted() if (right.agent, right.kind, right.round) == (agent, kind, round_number):
            return right
        case Granted():
            raise RightError(f"agent {right.agent} holds the unit: withdraw that before")
        case Withdrawn():
            raise RightError(f"agent {right.agent} has not acknowledged the withdrawal yet")


def withdraw(right: Right, next_generation: int) -> Right:
    """Take a unit back; the holder's list of `next_generation` is the first not to name it.

    Free at once where no list that names it was written. Withdrawing again changes nothing:
    every list since the first withdrawal lacks the unit, so the oldest generation is enough.
    """
    match right:
        case Granted() if next_generation <= right.granted_generation:
            return FREE
        case Granted():
            return Withdrawn(
                agent=right.agent,
                kind=right.kind,
                round=right.round,
                granted_generation=right.granted_generation,
                withdrawn_generation=next_generation,
            )
        case _:
            return right


def acknowledge(right: Right, agent: int, generation_held: int) -> Right:
    """Record that an agent's list of `generation_held` is in force there.

    Frees the rights that were withdrawn by that generation; no other right or agent changes.
    """
    if (
        isinstance(right, Withdrawn)
        and right.agent == agent
        and generation_held >= right.withdrawn_generation
    ):
        return FREE
    return right


def finish(right: Right, agent: int, kind: Kind, round_number: int, generation_held: int) -> Right:
    """Record that the holder has finished the unit, for the purpose of its right.

    Agents repeat a report until it was answered; one of an earlier round, of a probe while the
    unit is held to crawl it, or from under a list that did not name it, changes nothing.
    """
    if isinstance(right, Free) or generation_held < right.granted_generation:
        return right
    same = (right.agent, right.kind, right.round) == (agent, kind, round_number)
    return FREE if same else right


def permit_over(right: Right, agent: int) -> Right:
    """Record that an agent's permit is over at the manager, and free its right."""
    return FREE if holder(right) == agent else right


def end_at_agent(sent_ms: int, duration_ms: int, deadline_ms: int, interval_ms: int) -> int:
    """Return the time from which an agent starts no more requests, on its own clock since boot.

    sent_ms: when it *sent* the sync that brought the permit. deadline_ms: the longest that one
    request may take. interval_ms: the longest rest that it gives an address.
    """
    return sent_ms + duration_ms - deadline_ms - interval_ms
