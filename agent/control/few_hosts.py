"""Few hosts: whether so many of an agent's hosts fail that the fault is on this side.

On the wild web some names are always dead. Where half of all fail, the name servers or the network
of this site are the likelier cause.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from shared.host_failures import is_naming_failure
from shared.messages import Message

__all__ = ["few_hosts"]

FEW: Final = 0.5
LEAST: Final = 4
"""Hosts that must have been tried: one dead host of two says nothing."""


def few_hosts(failures: Mapping[str, int], done: int, unanswered: int) -> Message | None:
    """Return that few hosts are resolved or reached; None: enough are.

    failures: units that failed, by code. done: units that are done, those that failed included.
    unanswered: hosts whose name servers do not answer.
    """
    tried, failed = done + unanswered, sum(failures.values()) + unanswered
    if tried < LEAST or failed <= FEW * tried:
        return None
    unnamed = sum(n for code, n in failures.items() if is_naming_failure(code)) + unanswered
    reasons = [
        Message("agent.hosts_failed_by", count=n, failure=code) for code, n in failures.items()
    ]
    if unanswered:
        reasons.append(Message("agent.hosts_unanswered", count=unanswered))
    by_names = 2 * unnamed >= failed
    remedy = Message("agent.check_name_servers" if by_names else "agent.check_network")
    return Message(
        "agent.few_hosts", failed=failed, hosts=tried, reasons=tuple(reasons), remedy=remedy
    )
