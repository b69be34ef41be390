"""The manager client of a home."""

from __future__ import annotations

from agent.app.site.site import ca_file_of
from agent.app.startup.settings_mapping import user_agent
from agent.link.client import ManagerClient, ManagerRoute
from agent.link.installation import KnownInstallation
from agent.link.keys import Identity
from agent.settings import Home, Settings

__all__ = ["client_of"]


def client_of(settings: Settings, identity: Identity) -> ManagerClient:
    """Return a client for the manager of an identity."""
    site = settings.manager
    return ManagerClient(
        identity.manager,
        name=identity.name,
        key=identity.key,
        route=ManagerRoute(ca_file_of(settings), site.proxy, site.timeout_s),
        user_agent=user_agent(settings),
        installation=KnownInstallation(Home(settings.home).installation, identity.manager),
    )
