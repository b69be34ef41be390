"""Rules of rights, permits, groups and liveness: pure functions over numbers and names.

`permits` limits how long an agent keeps its rights without contact; `liveness` judges the state of
an agent; `groups` joins hosts that share an address; `host_shares` divides a host's request rate
among several agents; `probe_plan` chooses the pairs to probe; `refetch_rules` compares pages that
were fetched again; `right_history` finds the right that an agent had to a page at a time. Time is a
parameter; nothing here reads a clock, a table or a file.
"""

from __future__ import annotations

from manager.assignment.errors import RuleError
from manager.assignment.groups import AddressGroups
from manager.assignment.host_shares import most_requests, share_ms
from manager.assignment.liveness import (
    AgentFacts,
    AgentKind,
    Liveness,
    LivenessState,
    liveness,
    promised_contact,
)
from manager.assignment.permits import (
    Permit,
    extension_ms,
    handover_ms,
    manager_time,
)
from manager.assignment.probe_plan import NO_AGENT, ProbeRules, plan_probes

__all__ = [
    "NO_AGENT",
    "AddressGroups",
    "AgentFacts",
    "AgentKind",
    "Liveness",
    "LivenessState",
    "Permit",
    "ProbeRules",
    "RuleError",
    "extension_ms",
    "handover_ms",
    "liveness",
    "manager_time",
    "most_requests",
    "plan_probes",
    "promised_contact",
    "share_ms",
]
