"""The first look of the morning: is the crawl healthy, and what needs a person?"""

from __future__ import annotations

from collections import Counter
from typing import Annotated, Final

from fastapi import Query
from pydantic import BaseModel, Field

from manager.api.access import AdminServices, Services, Viewer
from manager.api.routes import subject_router
from manager.message_fields import message_fields
from manager.operations.fleet.agent_summaries import agent_overviews
from manager.operations.health.alert_rules import few_hosts
from manager.operations.health.few_hosts import alert_of
from manager.operations.hosts.addresses import names_waiting
from manager.operations.hosts.host_views import count_hosts
from manager.operations.hosts.name_lookups import Resolutions, resolutions
from manager.operations.identity.managers import list_managers
from manager.operations.logs.activity import Rate, rates
from manager.operations.people.audit_log import AuditRow, audit_page
from manager.operations.releases.release_views import MetadataAge, running_out
from manager.operations.rounds.rounds import RoundDetail, list_rounds, round_detail
from shared.frozen import frozen
from shared.messages import Message

__all__ = ["router"]

ALERTS: Final = 10

router: Final = subject_router("overview")


@message_fields
@frozen
class Attention:
    """An agent that a person should look at, and why."""

    agent: str
    state: str
    reason: Message


class Overview(BaseModel):
    """Counts by state; the newest round; notices for a person."""

    server_time_ms: int
    agents: Annotated[dict[str, int], Field(description="how many are in each state")]
    hosts: Annotated[
        dict[str, int],
        Field(description="how many are in each state; where it takes long, as seconds ago"),
    ]
    names_waiting: Annotated[
        int, Field(description="hosts whose names are to be looked up now; counted up to 10,000")
    ]
    names: Annotated[Resolutions, Field(description="how their look-ups went, and why some failed")]
    troubles: Annotated[
        list[Message],
        Field(
            description="the manager or agents resolve or reach few of their hosts, and what is "
            "wrong with the manager's own machine, files and jobs"
        ),
    ]
    last_tick_ms: Annotated[
        int, Field(description="when what happens by the clock happened last; 0: never")
    ]
    held_until_ms: Annotated[
        int, Field(description="after a restore no unit is assigned before this moment; 0: no hold")
    ]
    round: RoundDetail | None
    attention: list[Attention]
    signatures_ending: Annotated[
        list[MetadataAge], Field(description="of releases: sites stop updating when one is over")
    ]
    alerts: Annotated[list[AuditRow], Field(description="the newest ten")]


@router.get("/overview")
def overview(services: Services, _: Viewer) -> Overview:
    """Show the state of everything at once."""
    return _overview(services)


@router.get("/overview/activity")
def activity(
    services: Services,
    _: Viewer,
    steps: Annotated[int, Query(ge=1, le=1000)] = 24,
    hours: Annotated[int, Query(ge=1, le=744, description="of each step")] = 1,
) -> list[Rate]:
    """Show pages and bytes a second in the last hours, from the logs that came."""
    return rates(services.db, services.now_ms(), steps=steps, hours=hours)


def _overview(services: AdminServices) -> Overview:
    now_ms = services.now_ms()
    views = agent_overviews(services.db, now_ms, services.policy)
    managers = list_managers(services.db)
    newest = list_rounds(services.db, 1)
    return Overview(
        server_time_ms=now_ms,
        agents=Counter(view.liveness.state.value for view in views),
        hosts=count_hosts(services.db),
        names_waiting=names_waiting(services.db, now_ms),
        names=resolutions(services.db),
        troubles=[
            *(one.message for one in services.alerts.own()),
            *(
                alert_of(one).message
                for one in few_hosts(
                    services.db, views, services.settings.alerts.min_reachable_share
                )
            ),
        ],
        last_tick_ms=managers.last_tick_ms or 0,
        held_until_ms=managers.held_until_ms if managers.held_until_ms > now_ms else 0,
        round=round_detail(services.db, newest[0].number) if newest else None,
        attention=[
            Attention(
                agent=view.row.name, state=view.liveness.state.value, reason=view.liveness.reason
            )
            for view in views
            if view.liveness.attention
        ],
        signatures_ending=running_out(services.db, now_ms),
        alerts=audit_page(services.db, limit=ALERTS, alerts=True),
    )
