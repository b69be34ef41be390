"""Rules of rights, permits, groups and liveness: pure functions over numbers and names.

`rights` passes the right to fetch a unit from agent to agent so that two never have it; `permits`
limits how long an agent keeps its rights without contact; `liveness` judges the state of an agent;
`groups` joins hosts that share an address; `host_shares` divides a host's request rate among
several agents; `probe_plan` chooses the pairs to probe; `right_history` checks logs against the
rights of their agent at the time. Time comes in as a number; nothing here reads a clock, a table or
a file.
"""

from __future__ import annotations

from manager.assignment.errors import RightError, RuleError
from manager.assignment.groups import AddressGroups, Merge
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
    HeldEpoch,
    Permit,
    ReportEpoch,
    end_at_agent,
    epoch_of_report,
    extension_ms,
    handover_ms,
    manager_time,
)
from manager.assignment.probe_plan import NO_AGENT, ProbeRules, plan_probes
from manager.assignment.right_history import RightHistory, UnitInterval

__all__ = [
    "NO_AGENT",
    "AddressGroups",
    "AgentFacts",
    "AgentKind",
    "HeldEpoch",
    "Liveness",
    "LivenessState",
    "Merge",
    "Permit",
    "ProbeRules",
    "ReportEpoch",
    "RightError",
    "RightHistory",
    "RuleError",
    "UnitInterval",
    "end_at_agent",
    "epoch_of_report",
    "extension_ms",
    "handover_ms",
    "liveness",
    "manager_time",
    "most_requests",
    "plan_probes",
    "promised_contact",
    "share_ms",
]
