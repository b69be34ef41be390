"""Every page of the console for pictures: the name of its picture, and its address."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

__all__ = ["BEFORE_LOGIN", "PAGES", "address"]

BEFORE_LOGIN: Final = "login"

PAGES: Final[Mapping[str, str]] = {
    "login": "/console/login",
    "overview": "/console/",
    "agents": "/console/agents",
    "agents-map": "/console/agents-map",
    "agent": "/console/agent?name={agent}",
    "new-agent": "/console/new-agent",
    "join-token": "/console/join-token?name={coming}&token={joining}",
    "restart": "/console/restart",
    "hosts": "/console/hosts",
    "host": "/console/host?host={host}",
    "add-hosts": "/console/add-hosts",
    "search": "/console/search?q=example&show=all",
    "search-nothing": "/console/search?q=no%20such%20thing&show=all",
    "search-hosts": "/console/hosts?q=xample",
    "captured": "/console/captured?url={host}",
    "rounds": "/console/rounds",
    "round": "/console/rounds/{round}",
    "balance": "/console/balance",
    "splits": "/console/balance/splits",
    "plans": "/console/plans",
    "plan": "/console/plans/{plan}",
    "tree": "/console/plans/{plan}/tree",
    "probes": "/console/probes",
    "probe-matrix": "/console/probes/matrix",
    "distances": "/console/probes/distances",
    "reports": "/console/reports",
    "collection": "/console/collection",
    "collection-orders": "/console/collection/orders",
    "data": "/console/data",
    "client": "/console/client?name={client}",
    "new-client": "/console/new-client",
    "downloads": "/console/downloads",
    "archive-jobs": "/console/archive-jobs",
    "withdrawn": "/console/withdrawn",
    "trash": "/console/trash",
    "logs": "/console/logs",
    "alerts": "/console/alerts",
    "releases": "/console/releases",
    "release-agents": "/console/release-agents",
    "audit": "/console/audit",
    "users": "/console/users",
    "user": "/console/user?name={user}",
    "user-password": "/console/user/password?name={user}",
    "new-user": "/console/new-user",
    "own-password": "/console/own-password",
    "tokens": "/console/tokens",
    "settings": "/console/settings",
    "scope": "/console/scope?url=www.example.jp",
    "fleet-rules": "/console/fleet-rules",
    "robot": "/console/robot",
    "nothing-there": "/console/agent?name=nobody.example",
}


def address(name: str, names: Mapping[str, str]) -> str:
    """Return where a page is. names: of existing things, by kind (`Stage.names`)."""
    return PAGES[name].format(**names)
