"""Settings that the manager asks for, laid over the site's where they are stricter."""

from __future__ import annotations

from dataclasses import replace

from agent.app.collection.collection import AgentCollection
from agent.app.manager_link.kept_scope import write_scope
from agent.app.runtime import Runtime
from agent.app.session.session import CrawlSession
from agent.app.site.site import capacity_of
from agent.app.startup.settings_mapping import blocked_by
from agent.link.client import ManagerClient, ManagerRoute
from agent.link.poller import Poller
from agent.settings import Settings, tightened
from shared.archive.errors import DiskFullError
from shared.crawl_scope.evaluation import ScopeRules
from shared.errors import FormatError, SettingError
from shared.messages import Message
from shared.wire import sync

__all__ = ["ManagerSettings"]


class ManagerSettings:
    """The site's settings and the manager's, and what follows from both."""

    def __init__(
        self,
        runtime: Runtime,
        site: Settings,
        requested: sync.Settings,
        client: ManagerClient,
        poller: Poller,
        session: CrawlSession,
        collection: AgentCollection,
    ) -> None:
        """requested: the part of the manager's settings that outlived the process before."""
        self._runtime = runtime
        self._site = site
        self._requested = requested
        self._client = client
        self._poller = poller
        self._session = session
        self._collection = collection
        self.tightened: tuple[Message, ...] = ()  # what the manager made stricter
        self._scope_trouble = ""  # logged once, not with each sync

    def change_site(self, site: Settings) -> None:
        """Apply other settings of the site; the manager's requests still hold."""
        self._site = site
        self._client.change_route(ManagerRoute.of(site))
        self._poller.capacity = capacity_of(site)
        settings = tightened(site, self._requested)
        self.tightened = _limits(self._requested) if settings != site else ()
        self._session.retune(settings)

    def apply_scope(self, scope: sync.CrawlScope) -> None:
        """Go by another scope of the crawl, also after a restart.

        One that is beyond what this release reads, or that the disk has no room for, changes
        nothing: the next sync says which version is in force, and brings it again.
        """
        try:
            rules = ScopeRules(scope.text, known_only=True)
            write_scope(self._runtime.home, scope)
        except (FormatError, DiskFullError) as error:
            if str(error) != self._scope_trouble:
                self._scope_trouble = str(error)
                self._runtime.log_line(
                    f"scope of the crawl, version {scope.version} cannot be used, "
                    f"the earlier holds: {error}"
                )
            return
        self._scope_trouble = ""
        self._session.use_scope_rules(scope.version, rules)
        self._runtime.log_line(
            f"scope of the crawl, version {scope.version}: {len(rules.rules)} rules"
        )

    def apply(self, requested: sync.Settings) -> None:
        """Apply what the manager asks for now."""
        patterns = requested.blocked or ()
        usable = tuple(pattern for pattern in patterns if _is_pattern(pattern))
        if len(usable) < len(patterns):
            count = len(patterns) - len(usable)
            self._runtime.log_line(f"{count} of the manager's block patterns are not RE2")
        requested = replace(requested, blocked=usable or None)
        if requested.sending != self._requested.sending:
            self._collection.take_limits(requested.sending)
        self._requested = requested
        settings = tightened(self._site, requested)
        self.tightened = _limits(requested) if settings != self._site else ()
        if settings == self._session.settings:
            return
        limits = ", ".join(map(str, _limits(requested)))
        self._runtime.log_line(
            f"limits of the manager: {limits or 'none stricter than this site has'}"
        )
        self._session.retune(settings)


def _is_pattern(pattern: str) -> bool:
    try:
        blocked_by((pattern,))
    except SettingError:
        return False
    return True


def _limits(requested: sync.Settings) -> tuple[Message, ...]:
    limits = []
    if requested.interval_s is not None:
        limits.append(Message("agent.asked_interval", interval_s=requested.interval_s))
    if requested.parallel_hosts is not None:
        limits.append(Message("agent.asked_hosts", hosts=requested.parallel_hosts))
    if requested.bytes_per_s is not None:
        limits.append(Message("agent.asked_rate", rate=requested.bytes_per_s))
    if requested.blocked:
        limits.append(Message("agent.asked_blocks", patterns=len(requested.blocked)))
    return tuple(limits)
