"""Components that the status of an agent reports on."""

from __future__ import annotations

from agent.app.manager_link.fetch_permission import Permission
from agent.app.manager_link.manager_actions import ManagerActions
from agent.app.manager_link.manager_settings import ManagerSettings
from agent.app.reporting.report_schedule import Reporting
from agent.app.runtime import Runtime
from agent.app.session.session import CrawlSession
from agent.app.site.resource_guards import ResourceGuards
from agent.control.renamed_settings import RenamedSettings
from agent.link.keys import Identity
from agent.link.poller import Poller
from agent.link.report_delivery import Sender
from agent.settings import Home
from shared.frozen import frozen

__all__ = ["AgentParts"]


@frozen
class AgentParts:
    """The components of a running agent, for `AgentView` alone: a status is made of all of them.

    It reads them and changes none. Every other component takes what it uses.
    wake_early_s: so much before its hours begin the agent calls the manager.
    """

    runtime: Runtime
    home: Home
    identity: Identity
    session: CrawlSession
    permission: Permission
    guards: ResourceGuards
    reporting: Reporting
    sender: Sender
    poller: Poller
    actions: ManagerActions
    settings: ManagerSettings
    renamed: RenamedSettings
    wake_early_s: float
