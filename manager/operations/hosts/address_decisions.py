"""Decisions of people about addresses: shared by many sites, one clock, or by itself."""

from __future__ import annotations

import ipaddress
from typing import Final, Literal

from manager.db.engine import Database
from manager.db.hosts import address_rules
from manager.db.hosts.address_rules import AddressRule
from manager.operations.actor import Actor, note
from manager.operations.hosts.address_rules import begin_sharing, classify, end_sharing
from manager.operations.policy import DEFAULT_POLICY, Policy
from shared.errors import Fault, FormatError

__all__ = ["AddressDecision", "decide_address"]

AddressDecision = Literal["shared", "single", "auto"]
CHOICES: Final = ("shared", "single", "auto")


def decide_address(
    db: Database,
    address: str,
    decision: str,
    actor: Actor,
    now_ms: int,
    policy: Policy = DEFAULT_POLICY,
) -> AddressRule:
    """Share an address, make it one clock, or leave it to the number of its domains again.

    An address that is to be one clock is `merging` until only one agent has rights there. Raises
    FormatError for what is no address or no decision.
    """
    try:
        address = str(ipaddress.ip_address(address.strip().strip("[]")))
    except ValueError:
        raise FormatError("hosts.bad_address", Fault.INVALID_VALUE, value=address[:80]) from None
    if decision not in CHOICES:
        raise FormatError("hosts.bad_decision", Fault.INVALID_VALUE, value=decision[:80])
    with db.write() as tx:
        before = address_rules.of_addresses(tx, [address]).get(address)
        rule = "single" if before is None else before.rule
        if before is None:
            address_rules.put(tx, address, rule="single", reason="few", changed_ms=now_ms)
        decided = "" if decision == "auto" else decision
        address_rules.put(tx, address, decided=decided, decided_by=actor.name if decided else "")
        domains = address_rules.domain_counts(tx, [address]).get(address, 0)
        if decision == "shared" and rule != "shared":
            begin_sharing(tx, address, "person", domains, now_ms, policy)
        elif decision == "single" and rule == "shared":
            end_sharing(tx, address, "person", domains, now_ms)
        elif decision == "auto" and rule == "shared":
            address_rules.put(tx, address, counted_ms=0)  # judged with the next tick
        elif decision == "auto":
            address_rules.put(tx, address, reason="few")
            classify(tx, [address], now_ms, policy)
        if decided:
            address_rules.put(tx, address, reason="person")
        note(tx, now_ms, actor, "address.decide", address, decision=decision)
        return address_rules.of_addresses(tx, [address])[address]
