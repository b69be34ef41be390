"""Actions that follow from the manager's answers, each carried out by the component in charge."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable

from agent.app.collection.collection import AgentCollection
from agent.app.manager_link.list_updates import ListUpdates
from agent.app.manager_link.manager_commands import ManagerCommands
from agent.app.manager_link.manager_settings import ManagerSettings
from agent.app.manager_link.permit_use import PermitUse
from agent.app.runtime import Runtime
from agent.app.session.session import CrawlSession
from agent.app.session.shared_rules import rules_with
from agent.link.actions import (
    Action,
    ApplyScope,
    ApplySettings,
    ChangeAddressRules,
    DropHosts,
    ForgetReported,
    GrantPermit,
    RevokePermit,
    RunCommand,
    ShowMessage,
    TakeList,
    TakeOrders,
)
from shared.archive.errors import DiskFullError

__all__ = ["ManagerActions"]


class ManagerActions:
    """Carries actions out, one after the other."""

    def __init__(
        self,
        runtime: Runtime,
        session: CrawlSession,
        permits: PermitUse,
        lists: ListUpdates,
        settings: ManagerSettings,
        commands: ManagerCommands,
        collection: AgentCollection,
    ) -> None:
        self._runtime = runtime
        self._session = session
        self.permits = permits
        self.lists = lists
        self._settings = settings
        self.commands = commands
        self._collection = collection
        self.message = ""  # from the manager, for the partner

    async def carry_out(self, actions: Iterable[Action]) -> None:
        """Carry out what an answer asks for.

        Where the disk has no room for one thing, the others are done all the same; then the first
        DiskFullError is raised.
        """
        full: DiskFullError | None = None
        for action in actions:
            try:
                await self._carry_out(action)
            except DiskFullError as error:
                full = full or error
        if full is not None:
            raise full

    async def _carry_out(self, action: Action) -> None:
        match action:
            case GrantPermit() | RevokePermit():
                self.permits.carry_out([action])
            case ForgetReported():
                self.forget_reported(action)
            case TakeList():
                await self.lists.fetch()
            case ApplyScope(scope):
                self._settings.apply_scope(scope)
            case ApplySettings(settings):
                self._settings.apply(settings)
            case RunCommand():
                await self.commands.run(action)
            case TakeOrders(orders):
                self._collection.take_orders(orders)
            case DropHosts(hosts, number):
                self._collection.withdraw(hosts, number)
            case ChangeAddressRules():
                self._change_address_rules(action)
            case ShowMessage(text):
                self.message = text
                if text:
                    self._runtime.log_line(f"the manager says: {text}")

    def _change_address_rules(self, action: ChangeAddressRules) -> None:
        """Keep changed rules of shared addresses, and let the crawl take them."""
        heard = rules_with(self._session.heard_rules, action.changes, action.start, action.number)
        with contextlib.suppress(DiskFullError):  # they come again, as they are not in force
            self._session.take_rules(heard)

    def forget_reported(self, action: ForgetReported) -> None:
        """Forget units and addresses that are with the manager."""
        reports = self._session.reports
        reports.forget_finished(action.finished)
        reports.forget_addresses(action.addresses)
        with contextlib.suppress(DiskFullError):  # they are reported once more, which is harmless
            self._session.ledger.commit()
