"""Does an agent say the truth? Its logs beside those of agents that fetched the same pages.

Rounds let other agents probe the hosts that an agent crawls, so a part of its captures has been
fetched again already; nothing is fetched for a check. Invariant: a check changes nothing but the
audit; that an agent is a suspect is for a person to judge: a host may answer it otherwise.
What is compared, and when a page is contradicted, is in `manager.store.logs.log_comparison`.
"""

from __future__ import annotations

import secrets
from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from manager.db.engine import Database
from manager.db.logs import reports
from manager.operations.actor import Actor, note_alone
from manager.operations.identity.enrolment import agent_named
from manager.operations.logs.log_scratch import LogWorkspace
from manager.operations.policy import DEFAULT_POLICY, Policy
from manager.store import Contradiction, compare_logs
from shared.errors import FormatError
from shared.frozen import frozen

__all__ = ["EXAMPLES", "CaptureCheck", "Contradiction", "check_captures"]

EXAMPLES: Final = 20
LEAST_URLS: Final = 20
"""Below so many a share says nothing."""

SUSPECT_SHARE: Final = 0.2
"""Pages that change between two visits, or answer by country, are a few; who invents, invents
most."""


@frozen
class CaptureCheck:
    """Comparison of an agent's pages with others' logs. compared: URLs that others fetched too.

    contradicted: URLs of which more agents say otherwise than the same. suspect: too many.
    """

    agent: str
    compared: int
    contradicted: int
    suspect: bool
    examples: list[Contradiction]


def check_captures(
    db: Database,
    name: str,
    workspace: LogWorkspace,
    actor: Actor,
    now_ms: int,
    share: float = 1.0,
    policy: Policy = DEFAULT_POLICY,
    examples: int = EXAMPLES,
) -> CaptureCheck:
    """Compare what an agent logged with what others logged, as long as a probe is fresh.

    share: of the pages, drawn again each time; less is faster. A suspect is an alert in the audit.
    examples: of contradicted pages at most, those first that most others contradict.
    Raises NotFoundError, FormatError.
    """
    if not 0 < share <= 1:
        raise FormatError("logs.share_range", value=share)
    with db.read() as tx:
        row = agent_named(tx, name, see="agents list")
        since_ms = now_ms - round(policy.max_distance_age_s * 1000)
        logs = _there(reports.log_paths_since(tx, since_ms), workspace.kept)
    found = compare_logs(
        logs,
        row.id,
        share=share,
        salt=secrets.token_hex(16),
        examples=examples,
        memory_bytes=workspace.memory_bytes,
        spill=workspace.folder,
    )
    many = found.compared >= LEAST_URLS
    suspect = many and found.contradicted > SUSPECT_SHARE * found.compared
    note_alone(
        db,
        now_ms,
        actor,
        "agent.compare",
        name,
        alert=suspect,
        compared=found.compared,
        contradicted=found.contradicted,
    )
    return CaptureCheck(
        agent=name,
        compared=found.compared,
        contradicted=found.contradicted,
        suspect=suspect,
        examples=found.examples,
    )


def _there(rows: list[tuple[int, str]], kept: Path) -> Mapping[int, list[Path]]:
    logs: dict[int, list[Path]] = defaultdict(list)
    for agent, path in rows:
        # A file that is missing is a finding of `prsm check`; the others still say something.
        if (kept / path).is_file():
            logs[agent].append(kept / path)
    return logs
