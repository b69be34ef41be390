"""The crawl as data: read this first.

A URL enters at `seed` (the manager's list) or as a link of a page. `filter` asks whether it is ours
and worth it, `dedup` lets it through once a job and enters it in the job's queue on disk, `resolve`
finds its host's address, and `frontier` takes it from the queue at its turn. The frontier alone
holds politeness: one token for each address; only the end of a fetch (`ended`) or a refusal by
robots.txt (`denied`) gives it back. A robots.txt is fetched under the same token, before the first
page of its host; the sitemaps that it names enter as links do. A fetched page is decoded, parsed
and compressed (`parse`), written (`store`), and only then forgotten by the frontier (`kept`): a
crash in between means that it is fetched again, never that it is lost.

Links to hosts or directories of others leave by `filter.outside` to the manager. When a job is
done (`frontier.finished`, or `resolve.failed` for a host without an address), `seed` reports
the changed scope to all, so that no late link wakes it.
Source: seed 000, table 3; design 5.
"""

from __future__ import annotations

from typing import Final

from agent.pipeline.messages.hosts import (
    HandedOver,
    HostBegun,
    HostFailed,
    HostFound,
    LookUp,
    Moved,
    Placed,
    Unreached,
)
from agent.pipeline.messages.jobs import ListChanged, ListSlice, UnitClosed, UnitFinished
from agent.pipeline.messages.pages import Candidate, Fetched, Links, Outside, PageWork, Processed
from agent.pipeline.messages.requests import Denied, Due, FetchAnswer, Tick
from agent.pipeline.messages.robots import RulesDue, RulesFetched, RulesKnown, RulesRedirected
from agent.pipeline.spec import Connection, Key, Module, Pipeline, validate

__all__ = ["CRAWL"]

MODULES: Final = (
    Module(
        "seed",
        Key.SINGLE,
        inputs={
            "list": ListSlice,
            "finished": UnitFinished,
            "failed": HostFailed,
            "quiet": UnitClosed,
        },
        outputs={
            "links": Links,
            "changed": ListChanged,
            "finished": UnitFinished,
            "closed": UnitClosed,
        },
    ),
    Module(
        "filter",
        Key.FREE,
        inputs={"links": Links, "changed": ListChanged},
        outputs={"inside": Candidate, "outside": Outside},
    ),
    Module(
        "dedup",
        Key.URL,
        inputs={"candidates": Candidate},
        outputs={"new": Candidate},
        spills=True,
    ),
    Module(
        "resolve",
        Key.HOST,
        inputs={
            "candidates": Candidate,
            "rules": RulesRedirected,
            "begun": HostBegun,
            "unreached": Unreached,
            "changed": ListChanged,
            "answer": LookUp,
            "tick": Tick,
        },
        outputs={
            "placed": Placed,
            "rules": RulesRedirected,
            "rules_lost": RulesFetched,
            "moved": Moved,
            "found": HostFound,
            "failed": HostFailed,
        },
        spills=True,
    ),
    Module(
        "frontier",
        Key.IP,
        inputs={
            "placed": Placed,
            "moved": Moved,
            "handed": HandedOver,
            "changed": ListChanged,
            "tick": Tick,
            "rules": RulesRedirected,
            "rules_known": RulesKnown,
            "denied": Denied,
            "ended": FetchAnswer,
            "kept": Processed,
        },
        outputs={
            "due": Due,
            "rules_due": RulesDue,
            "finished": UnitFinished,
            "closed": UnitClosed,
            "handed": HandedOver,
            "begun": HostBegun,
            "unreached": Unreached,
        },
        spills=True,
    ),
    Module(
        "rules_fetch",
        Key.IP,
        inputs={"due": RulesDue, "answer": FetchAnswer},
        outputs={
            "fetched": RulesFetched,
            "redirect": RulesRedirected,
            "ended": FetchAnswer,
            "page": Fetched,
        },
    ),
    Module(
        "robots",
        Key.HOST,
        inputs={"fetched": RulesFetched, "due": Due, "tick": Tick},
        outputs={"known": RulesKnown, "links": Links, "allowed": Due, "denied": Denied},
    ),
    Module(
        "fetch",
        Key.IP,
        inputs={"due": Due, "answer": FetchAnswer},
        outputs={"page": Fetched, "redirect": Links, "ended": FetchAnswer},
    ),
    Module(
        "parse",
        Key.FREE,
        inputs={"pages": Fetched, "answer": PageWork},
        outputs={"links": Links, "processed": Processed},
    ),
    Module(
        "store",
        Key.SINGLE,
        inputs={"pages": Processed, "tick": Tick},
        outputs={"kept": Processed},
    ),
    Module(
        "report",
        Key.SINGLE,
        inputs={
            "outside": Outside,
            "ended": FetchAnswer,
            "kept": Processed,
            "finished": UnitFinished,
            "closed": UnitClosed,
            "denied": Denied,
            "found": HostFound,
            "tick": Tick,
        },
    ),
)

CONNECTIONS: Final = (
    Connection("seed.links", "filter.links"),
    Connection("seed.changed", "filter.changed", to_all=True),
    Connection("seed.changed", "resolve.changed", to_all=True),
    Connection("seed.changed", "frontier.changed", to_all=True),
    Connection("filter.inside", "dedup.candidates"),
    Connection("filter.outside", "report.outside"),
    Connection("dedup.new", "resolve.candidates"),
    Connection("resolve.placed", "frontier.placed"),
    Connection("resolve.found", "report.found"),
    Connection("resolve.rules", "frontier.rules"),
    Connection("resolve.rules_lost", "robots.fetched"),
    Connection("resolve.moved", "frontier.moved", to_all=True),
    Connection("frontier.handed", "frontier.handed"),
    Connection("frontier.begun", "resolve.begun"),
    Connection("frontier.unreached", "resolve.unreached"),
    Connection("resolve.failed", "seed.failed"),
    Connection("frontier.rules_due", "rules_fetch.due"),
    Connection("rules_fetch.fetched", "robots.fetched"),
    Connection("rules_fetch.redirect", "resolve.rules"),
    Connection("rules_fetch.ended", "frontier.ended"),
    Connection("rules_fetch.page", "parse.pages"),
    Connection("rules_fetch.ended", "report.ended"),
    # to all: after a redirect it is not the host's own address that the rules came from
    Connection("robots.known", "frontier.rules_known", to_all=True),
    Connection("frontier.due", "robots.due"),
    Connection("robots.allowed", "fetch.due"),
    Connection("robots.links", "filter.links"),
    Connection("robots.denied", "frontier.denied"),
    Connection("robots.denied", "report.denied"),
    Connection("fetch.ended", "frontier.ended"),
    Connection("fetch.redirect", "filter.links"),
    Connection("fetch.ended", "report.ended"),
    Connection("fetch.page", "parse.pages"),
    Connection("parse.links", "filter.links"),
    Connection("parse.processed", "store.pages"),
    Connection("store.kept", "frontier.kept"),
    Connection("store.kept", "report.kept"),
    Connection("frontier.finished", "seed.finished"),
    Connection("seed.finished", "report.finished"),
    Connection("seed.closed", "report.closed"),
    Connection("frontier.closed", "seed.quiet"),
)

# What the runner and the adapters feed: the manager's list, the time, and completions.
OUTSIDE: Final = (
    "seed.list",
    "resolve.answer",
    "resolve.tick",
    "frontier.tick",
    "robots.tick",
    "rules_fetch.answer",
    "fetch.answer",
    "parse.answer",
    "store.tick",
    "report.tick",
)

CRAWL: Final = Pipeline(MODULES, CONNECTIONS, OUTSIDE)
validate(CRAWL)
