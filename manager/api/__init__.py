"""`/api/v1` for administrators: the same operations that the console and `prsm` use.

`access` decides who may do what; each other module holds the routes of one subject.
"""

from manager.api import (
    alerts,
    exports,
    logs,
    managers,
    overview,
    records,
    releases,
    search,
    settings,
)
from manager.api.access import AdminServices, known_person
from manager.api.archive import archive, collection
from manager.api.fleet import agents, fleet_rules, lists
from manager.api.hosts import hosts, pins, scope, splits
from manager.api.people import clients, sessions, tokens, users
from manager.api.planning import plans, probes
from manager.api.rounds import rounds

__all__ = ["ROUTES", "AdminServices", "known_person"]

ROUTES = [
    route
    for subject in (
        sessions, overview, managers, users, tokens, agents, archive, clients, hosts, pins, lists,
        rounds, plans, probes, records, logs, exports, collection, releases, alerts, fleet_rules,
        scope, settings, search, splits,
    )
    for route in subject.router.routes
]  # fmt: skip
