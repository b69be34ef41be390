"""The actor of an operation, and the audit row that each action leaves."""

from __future__ import annotations

import json
from typing import Any, Final, Literal

from manager.db.engine import Database, Transaction
from manager.db.people import audit_log
from shared.frozen import frozen
from shared.messages import Message

__all__ = ["CLOCK", "Actor", "ActorKind", "note", "note_alone"]

ActorKind = Literal["user", "agent", "client", "clock", "local"]


@frozen
class Actor:
    """A user, an agent, a third party, the clock, or who may use this machine; and its request.

    address, browser: where it came from, as far as that is known.
    """

    kind: ActorKind
    name: str
    request_id: str = ""
    address: str = ""
    browser: str = ""


CLOCK: Final = Actor("clock", "tick")


def note(
    tx: Transaction,
    now_ms: int,
    actor: Actor,
    action: str,
    subject: str,
    *,
    alert: bool = False,
    **detail: Any,
) -> None:
    """Write the audit row of an action, in the action's own transaction.

    action: `noun.verb`, as `agent.enrol`. subject: what it was done to. alert: a person should
    look at it. detail: anything JSON can say, and messages; never a secret.
    """
    audit_log.add(
        tx,
        at_ms=now_ms,
        actor_kind=actor.kind,
        actor_name=actor.name,
        action=action,
        subject=subject,
        detail=json.dumps(detail, sort_keys=True, default=_json) if detail else "",
        request_id=actor.request_id,
        alert=alert,
        address=actor.address,
        browser=actor.browser,
    )


def note_alone(
    db: Database, now_ms: int, actor: Actor, action: str, subject: str, **detail: Any
) -> None:
    """Write the audit row of an action that changed nothing else in the database."""
    with db.write() as tx:
        note(tx, now_ms, actor, action, subject, **detail)


def _json(value: object) -> Any:
    """Return what JSON cannot say by itself: a message as its code and parameters."""
    if isinstance(value, Message):
        return value.as_json()
    raise TypeError(f"{type(value).__name__}: cannot be written into the audit")
