"""`/api/v1` for administrators: the same operations that the console and `prsm` use.

`door` says who may do what; each other module holds the routes of one subject.
"""

from manager.api import (
    agents,
    alerts,
    archive,
    clients,
    collection,
    exports,
    fleet_rules,
    hosts,
    lists,
    logs,
    managers,
    overview,
    people,
    pins,
    plans,
    probes,
    records,
    releases,
    rounds,
    search,
    sessions,
    settings,
    tokens,
)
from manager.api.door import AdminDoor, known_person

__all__ = ["ROUTES", "AdminDoor", "known_person"]

ROUTES = [
    route
    for subject in (
        sessions, overview, managers, people, tokens, agents, archive, clients, hosts, pins, lists,
        rounds, plans, probes, records, logs, exports, collection, releases, alerts, fleet_rules,
        settings, search,
    )
    for route in subject.router.routes
]  # fmt: skip
