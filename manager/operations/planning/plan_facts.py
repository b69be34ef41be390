"""A plan by its number, and its facts: costs of each agent, the tree, how it came about.

Facts are JSON in the row's `detail`; messages in it are objects of `code` and `params`.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict
from typing import Any

from manager.balancing.balancers import Compared
from manager.db.engine import Transaction
from manager.db.planning import plans
from manager.db.planning.plans import PlanRow
from manager.errors import NotFoundError
from manager.message_fields import message_fields
from shared.frozen import frozen
from shared.messages import Message

__all__ = ["PlanFacts", "TimeFacts", "facts_of", "plan_of", "row_of_facts"]


@frozen
class TimeFacts:
    """Predicted end of the crawl by the clock from the plan on, None: never; no plan ends before
    `end_bound_ms`. network: bytes times distance, of the units that have an owner."""

    end_before_ms: int | None
    end_ms: int | None
    end_bound_ms: int
    network_before_ms: float
    network_ms: float


@message_fields
@frozen
class PlanFacts:
    """agents: name, cost and units before and after, each. tree: (agent, agent, length).

    explanation: how the plan came about. compared: what other methods would give.
    time: the predicted end; None for plans of versions that did not predict it.
    """

    agents: list[dict[str, Any]]
    tree: list[tuple[str, str, float]]
    explanation: tuple[Message, ...]
    compared: list[Compared]
    time: TimeFacts | None


def plan_of(tx: Transaction, plan_id: int) -> PlanRow:
    """Return a plan. Raises NotFoundError."""
    plan = plans.by_id(tx, plan_id)
    if plan is None:
        raise NotFoundError("planning.unknown", plan=plan_id, see="plans")
    return plan


def facts_of(detail: str) -> PlanFacts:
    """Return what a row says of its plan; sentences of old rows are messages of their text."""
    given = json.loads(detail)
    return PlanFacts(
        given["agents"],
        [(first, second, length) for first, second, length in given["tree"]],
        tuple(_messages(given["explanation"])),
        [Compared(**{**one, "why": _message(one["why"])}) for one in given.get("compared", ())],
        None if given.get("time") is None else TimeFacts(**given["time"]),
    )


def row_of_facts(facts: PlanFacts) -> str:
    """Return the form in the row."""
    return json.dumps(
        {
            "agents": facts.agents,
            "tree": facts.tree,
            "explanation": [one.as_json() for one in facts.explanation],
            "compared": [
                {**asdict(one), "why": None if one.why is None else one.why.as_json()}
                for one in facts.compared
            ],
            "time": None if facts.time is None else asdict(facts.time),
        }
    )


def _messages(values: Iterable[Any]) -> Iterable[Message]:
    return (found for found in map(_message, values) if found is not None)


def _message(value: Any) -> Message | None:
    if isinstance(value, str):
        return Message.of_text(value) if value else None
    return Message.of_json(value)
