"""Few hosts: whether so many of an agent's hosts fail that the fault is on this side.

On the wild web some names are always dead. Where half of all fail, the name servers or the network
of this site are the likelier cause.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from shared.host_failures import failure_words, is_naming_failure
from shared.plurals import with_plurals

__all__ = ["few_hosts"]

FEW: Final = 0.5
LEAST: Final = 4
"""Hosts that must have been tried: one dead host of two says nothing."""


def few_hosts(failures: Mapping[str, int], done: int, unanswered: int) -> str:
    """Return a sentence where few hosts are resolved or reached; "": enough are.

    failures: units that failed, by code. done: units that are done, those that failed included.
    unanswered: hosts whose name servers do not answer.
    """
    tried, failed = done + unanswered, sum(failures.values()) + unanswered
    if tried < LEAST or failed <= FEW * tried:
        return ""
    unnamed = sum(n for code, n in failures.items() if is_naming_failure(code)) + unanswered
    reasons = ", ".join(f"{n} {failure_words(code)}" for code, n in failures.items())
    if unanswered:
        reasons = ", ".join(filter(None, (reasons, f"{unanswered} without an answer so far")))
    remedy = (
        "check naming.servers and the name servers of this machine: prs doctor"
        if 2 * unnamed >= failed
        else "check the network and the firewall: prs doctor --page URL"
    )
    return with_plurals(f"{failed} of {tried} hosts failed: {reasons}; {remedy}")
