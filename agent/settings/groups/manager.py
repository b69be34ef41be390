"""Settings of the agent: the manager that it belongs to."""

from __future__ import annotations

from agent.settings.sizes import DAY_S, HOUR_S
from shared.frozen import frozen
from shared.settings import Range, setting

__all__ = ["ManagerSettings"]


@frozen
class ManagerSettings:
    """The way to the manager."""

    url: str = setting(
        "", "URL", "address of the manager; empty: the one at which `prs enrol` enrolled this agent"
    )
    name: str = setting(
        "",
        "name",
        "name of this agent at the manager; empty: the one under which `prs enrol` enrolled it",
    )
    ca_file: str = setting(
        "",
        "path",
        "PEM file of the authorities that the manager's certificate is checked with; empty: the "
        "system's",
    )
    proxy: str = setting(
        "",
        "URL",
        "proxy on the way to the manager; empty: what HTTPS_PROXY says, as every other program "
        "does",
    )
    timeout_s: float = setting(
        60.0,
        Range("s", 1, 600),
        "how long an answer of the manager is waited for; one that takes in a big log may be slow",
    )
    backoff_s: float = setting(
        60.0,
        Range("s", 0.1, HOUR_S),
        "pause after the first failure to reach the manager; it doubles with each further one",
    )
    max_backoff_s: float = setting(
        HOUR_S,
        Range("s", 0.1, DAY_S),
        "longest pause after failures to reach the manager; half of a permit, so that one is not "
        "missed",
    )
