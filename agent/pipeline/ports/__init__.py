"""Ports of the modules: their only access to network, disk and clock.

    clock.py          time
    network.py        requests, look-ups
    pages.py          work on pages, earlier captures
    ledger.py         the durable state of the crawl; its rows: ledger_rows.py
    reports.py        reports for the manager

Nothing here waits. A fetch, a look-up or the work on a page is started, and its completion arrives
at a module's input as a message. Durable stores take changes at once and make them durable
together, at the next `commit` of the ledger.
"""

from __future__ import annotations

from agent.pipeline.messages.hosts import LookUp
from agent.pipeline.messages.pages import PageWork
from agent.pipeline.messages.requests import FetchAnswer, FetchRequest
from agent.pipeline.ports.clock import Clock
from agent.pipeline.ports.ledger import Ledger
from agent.pipeline.ports.ledger_rows import LEVEL_BITS, LEVELS, JobRow, OpenJob, QueuedUrl, Rest
from agent.pipeline.ports.network import Fetcher, Resolver
from agent.pipeline.ports.pages import EarlierCaptures, PageWorker
from agent.pipeline.ports.reports import Reports

__all__ = [
    "LEVELS",
    "LEVEL_BITS",
    "Clock",
    "EarlierCaptures",
    "FetchAnswer",
    "FetchRequest",
    "Fetcher",
    "JobRow",
    "Ledger",
    "LookUp",
    "OpenJob",
    "PageWork",
    "PageWorker",
    "QueuedUrl",
    "Reports",
    "Resolver",
    "Rest",
]
