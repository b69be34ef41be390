"""Early syncs: the manager is called before its time where it waits for news."""

from __future__ import annotations

from agent.app.manager_link.completion import reportable_units
from agent.app.manager_link.fetch_permission import Permission
from agent.app.manager_link.membership import Membership
from agent.app.runtime import Runtime
from agent.app.session.session import CrawlSession
from agent.link.outbox import Outbox
from agent.link.poller import Poller
from shared.wire.sync_bounds import MAX_ITEMS

__all__ = ["EarlySync"]


class EarlySync:
    """Calls the manager early, once for each piece of news."""

    def __init__(
        self,
        runtime: Runtime,
        session: CrawlSession,
        outbox: Outbox,
        permission: Permission,
        membership: Membership,
        poller: Poller,
    ) -> None:
        self._clock = runtime.clock
        self._session = session
        self._outbox = outbox
        self._permission = permission
        self._membership = membership
        self._poller = poller
        self._was_news = False

    async def check(self) -> None:
        """Call soon where there is news that a call was not brought forward for yet."""
        session = self._session
        finished = len(reportable_units(session, self._outbox, MAX_ITEMS))
        over = session.is_worked_off or not self._permission.window_open
        is_news = (
            finished >= MAX_ITEMS // 10
            or (finished > 0 and over)
            or (finished > 0 and bool(session.scope.resting))  # the others' pieces wait for it
            or self._membership.must_leave
            or self._membership.must_join
        )
        if is_news and not self._was_news:
            self._poller.call_soon(self._clock.boottime_s())
        self._was_news = is_news
