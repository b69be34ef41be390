"""Collection where no agent runs: `prs collect now`."""

from __future__ import annotations

from contextlib import suppress

from agent.adapters.clock import SystemClock
from agent.adapters.ledger import LedgerOptions, SqliteLedger
from agent.app.startup.settings_mapping import segment_info
from agent.collection.orders import add_site_order, read_progress, remove_site_order
from agent.collection.process import collect
from agent.control.lock import HomeLock
from agent.control.robot_log import LineLogger
from agent.errors import HomeError
from agent.link.keys import Identity
from agent.settings import Home, Settings
from shared.archive.errors import DiskFullError
from shared.messages import Message

__all__ = ["collect_at_rest"]


def collect_at_rest(settings: Settings, identity: Identity, log_line: LineLogger) -> str:
    """Send what the centre has not accepted, where no agent runs; return the result in words.

    Raises HomeError where one runs after all, or not all could be sent; DiskFullError.
    """
    home, clock = Home(settings.home), SystemClock()
    home.make()
    lock = HomeLock.take(home.lock)
    try:
        options = LedgerOptions(
            agent=identity.name,
            info=segment_info(settings, identity.name),
            max_segment_bytes=settings.disk.segment_bytes,
        )
        ledger = SqliteLedger.open(home.crawl, options, clock)
        try:
            with suppress(DiskFullError):  # what is sealed can go
                ledger.seal_segment()
        finally:
            ledger.close()
        order = add_site_order(home.collection, clock.epoch_ms())
        collect(settings, identity, log_line=log_line)
        progress = read_progress(home.collection).get(order.id)
        remove_site_order(home.collection, order.id)
    finally:
        lock.release()
    if progress is None or progress.state != "done":
        raise HomeError(
            "agent_errors.not_all_sent",
            why=progress.result if progress else Message("agent_errors.sending_hours_over"),
        )
    return progress.result
