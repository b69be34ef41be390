"""Sentences of operations, which are English, in the language of the page.

Operations say what, value, limit and remedy in English: to logs, `/api/v1`, `prsm`, and into rows
that stay. The console knows the frequent ones by their shape, with a name where a value stands, and
says them in its own language; any other is shown as it came. So operations know of no language, and
a sentence that was written down years ago is translated like one of now. A test holds each shape
against the source, so that one which nobody says any more is found.
A sentence is taken clause by clause, as it is written: `what; why; remedy`.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Any, Final

import re2

from manager.console.language import Lazy, _, current, lazy, pgettext
from manager.console.messages.event_phrases import EVENT_PHRASES, RESOLVER_PHRASES
from manager.console.messages.input_phrases import INPUT_PHRASES
from manager.console.messages.refusal_phrases import REFUSAL_PHRASES
from manager.console.messages.setting_phrases import SETTING_PHRASES
from manager.console.messages.words import step as step_word
from manager.console.messages.words import word
from shared.messages import Message, render
from shared.messages.message import TEXT
from shared.plurals import ADJECTIVES, NOUNS, VERBS, with_plurals

__all__ = ["CLAUSE", "PHRASES", "actor", "actor_meant", "pattern", "spoken"]

LONGEST: Final = 2000
DEEPEST: Final = 4
"""A sentence within a sentence within another is said; what an agent wrote may have hundreds."""
CLAUSE: Final = "; "
PHRASES: Final[tuple[Lazy, ...]] = (
    *SETTING_PHRASES,
    # How an agent is
    lazy("it was retired and gets no work any more"),
    lazy("it left by M5 and gets no work"),
    lazy("/servlets/subscribe brings it back"),
    lazy("it has never called"),
    lazy("last heard %(time)s ago"),
    lazy("it was expected %(time)s ago, and its permit is over: others take its units"),
    lazy("it was expected %(time)s ago"),
    lazy("others take its units in %(time)s"),
    lazy("it sleeps until %(time)s"),
    lazy("it calls once a night, by %(time)s"),
    lazy("last fetched a page %(time)s ago, %(urls)s URLs waiting"),
    lazy("last fetched a page %(time)s ago"),
    lazy("took its list of %(units)s units %(time)s ago, no page yet"),
    lazy("it has no unit to fetch"),
    lazy("it has nothing to crawl, and %(probes)s probes wait for their turn"),
    lazy('it says "%(words)s"'),
    lazy("its queue is empty and it %(fetched)s"),
    lazy("it calls, %(held)s, but %(fetched)s"),
    lazy("never fetched a page"),
    lazy("fetched nothing for %(time)s"),
    lazy("holds %(units)s units"),
    lazy("has %(urls)s URLs"),
    lazy("less than 1 s"),
    # What agents say of themselves, and why they left something out
    lazy("it fetches nothing for now"),
    lazy("it takes no more work"),
    lazy("paused by the manager"),
    lazy("paused by `prs pause`, `prs resume` goes on"),
    lazy("drained by the manager"),
    lazy("drained by `prs drain`, `prs resume` takes part again"),
    lazy("nothing to do"),
    lazy("no permit: %(why)s"),
    lazy("outside the hours of this site"),
    lazy("they begin %(time)s"),
    lazy("page limit"),
    lazy("asks for time: Crawl-delay of %(time)s s"),
    lazy("asks for time: %(why)s, Retry-After %(least)s s, %(time)s s until the next request"),
    lazy("asks for time: %(why)s, %(time)s s until the next request"),
    lazy("calendar without end"),
    lazy("complete"),
    lazy("nothing to fetch"),
    lazy("path repeats itself"),
    lazy("escapes grow"),
    lazy("query repeats itself"),
    lazy("same query in another order"),
    lazy("endless combinations of parameters"),
    lazy("too deep"),
    lazy("too many redirects"),
    lazy("host cannot be registered"),
    lazy("its agent was retired"),
    lazy("its agent was away"),
    lazy("none of its %(hosts)s control hosts answers it, and they answer %(others)s"),
    lazy("its control hosts are %(times)s times slower than for %(others)s"),
    lazy("its control hosts are %(times)s times faster than for %(others)s"),
    lazy("its neighbours"),
    lazy("the other agents"),
    lazy("it claims to be %(times)s times nearer to hosts than most others are"),
    # Sending
    lazy("as its site says"),
    lazy("as fast as its site allows"),
    lazy("at most %(number)s bytes/s"),
    lazy("Monday to Friday %(hours)s, Saturday and Sunday %(others)s (%(zone)s)"),
    lazy("Monday to Friday %(hours)s (%(zone)s)"),
    lazy("Saturday and Sunday %(hours)s (%(zone)s)"),
    lazy("its own time zone"),
    lazy("never"),
    # Distances
    lazy(
        "%(size)s bytes in %(time)s ms over %(number)s requests, %(lost)s of them without an answer"
    ),
    lazy("%(size)s bytes in %(time)s ms over %(number)s requests"),
    lazy("too little to rely on"),
    lazy("one request took %(time)s ms"),
    lazy("without it the distance is %(distance)s ms per KB"),
    lazy("none of %(number)s requests was answered"),
    lazy("predicted, nobody measured it"),
    lazy("two of three predictions are within a factor of %(times)s"),
    lazy("the agent said: %(words)s"),
    lazy("%(times)s times %(word)s than the other agents' distances make expect"),
    lazy("farther"),
    lazy("nearer"),
    # Hosts, pins, plans, rounds
    lazy("is pinned to %(agent)s, which is ignored"),
    lazy("no agent that is here may own it, or what shares its address"),
    lazy("pinned to this agent"),
    lazy("moved by hand"),
    lazy("host %(host)s: not known"),
    lazy("import it first"),
    lazy("unit %(unit)s: not known"),
    lazy("domain %(domain)s: must be a name, as example.jp"),
    lazy("agent %(agent)s was retired: it takes no commands"),
    lazy("agent %(agent)s speaks only the five messages: it can only restart"),
    lazy("agent %(name)s: there is none"),
    lazy("plan %(name)s: there is none"),
    lazy("round %(name)s: there is none"),
    lazy("user %(name)s: there is none"),
    lazy("see `%(command)s`"),
    lazy("no agent has called yet: let one join with `%(command)s`"),
    lazy("no round goes on: there is nothing to cancel"),
    lazy("round %(number)s is %(state)s: wait for its end, or cancel it"),
    lazy("nothing to plan: there must be an agent that has called and a host with an address"),
    lazy("no plan was applied that could be taken back"),
    lazy("cancelled by %(name)s"),
    lazy("the round was cancelled"),
    lazy("Gives back what plan %(number)s (%(method)s) moved"),
    lazy("what was new stays"),
    # How a plan came about
    lazy("%(method)s: the makespan is %(time)s (%(agent)s), %(share)s above the best possible"),
    lazy("%(method)s: the makespan is %(time)s (%(agent)s), %(times)s times the best possible"),
    lazy("%(method)s: the makespan is %(time)s (%(agent)s), the best possible"),
    lazy("%(moves)s of %(all)s units change hands"),
    lazy("Before, it was %(time)s (%(agent)s)"),
    lazy("Dealt at random with seed %(seed)s, in even counts"),
    lazy("%(units)s units had no owner that may have them, and were placed"),
    lazy("Step %(number)s: %(gifts)s. Makespan %(time)s (%(agent)s)"),
    lazy("%(giver)s gives %(taker)s %(units)s units (%(time)s)"),
    lazy("%(number)s further steps brought nothing better"),
    lazy("step %(number)s counts"),
    lazy("%(pairs)s pairs of neighbours made %(exchanges)s exchanges in %(sweeps)s sweeps"),
    lazy("Prices after %(number)s iterations: %(prices)s"),
    lazy("Filled up to %(share)s above the bound"),
    lazy("There is no tree: neighbours are known once agents have probed common hosts"),
    lazy("Of several ways, the best for its moves: %(way)s"),
    lazy(
        "Few moves leave the makespan more than %(share)s above the best possible, so more "
        "than %(part)s of the units may move"
    ),
    lazy("plan %(number)s: %(method)s"),
    lazy("If hosts could be divided, the makespan were %(time)s"),
    lazy("%(number)s would be"),
    # Alerts, releases, what became of something
    lazy("agent %(name)s is %(state)s: %(why)s"),
    lazy(
        "agent %(name)s did not update to %(version)s and went back at the step %(step)s: %(words)s"
    ),
    lazy("agent %(name)s did not update to %(version)s and went back at the step %(step)s"),
    lazy(
        "agent %(name)s did not update to %(version)s: %(outcome)s at the step %(step)s: %(words)s"
    ),
    lazy("agent %(name)s did not update to %(version)s: %(outcome)s at the step %(step)s"),
    lazy("agent %(name)s has %(size)s of disk left"),
    lazy("its site must free some, or it fetches nothing any more"),
    lazy("agent %(name)s has a clock that differs by %(time)s"),
    lazy("its site must set it, and keep it right by NTP"),
    lazy("agent %(name)s holds %(number)s reports that did not arrive"),
    lazy("the manager has no address of %(failed)s of %(tried)s hosts"),
    lazy("agent %(name)s found no address of %(failed)s of %(tried)s hosts"),
    lazy("agent %(name)s reached nothing of %(failed)s of %(tried)s hosts"),
    lazy("alerts.hosts_share wants %(share)s"),
    lazy("of them %(number)s: %(why)s"),
    lazy("no such name (NXDOMAIN)"),
    lazy("the name has no address"),
    lazy("not a name that DNS can hold"),
    lazy("no answer from a name server in time"),
    lazy("the name server refuses to answer (REFUSED)"),
    lazy("the name server failed (SERVFAIL)"),
    lazy("no name server can be reached"),
    lazy("no usable answer from a name server"),
    lazy("an address that must not be crawled"),
    lazy("unreachable: no page came"),
    lazy("the host asks for more time than a crawl waits"),
    lazy("see naming.servers, then look up again by `prsm hosts resolve`"),
    lazy("`prs doctor` there says what its name servers answer"),
    lazy("`prs doctor --page URL` there tries the way to a host"),
    lazy("its log, or `prs status` there, says why"),
    lazy("manager %(place)s has given no sign of life for %(time)s"),
    lazy("if it was taken away for good, run `prsm managers forget %(name)s`"),
    lazy("the database answers manager %(place)s again, after %(time)s"),
    lazy("the database has not answered manager %(place)s for %(time)s"),
    lazy("see that it runs, and is reached from there"),
    lazy("agents go on with their permits meanwhile"),
    lazy("%(number)s units changed hands in a day, more than %(limit)s"),
    lazy("the centre has %(size)s of disk left"),
    lazy("alerts.disk_bytes wants %(size)s"),
    lazy("free some, or add room: below limits.reserve_bytes no uploads are taken"),
    lazy("no round has begun for %(days)s days"),
    lazy("job %(name)s of the manager is late by %(time)s"),
    lazy("agents get new work late, and units of lost agents stay with them"),
    lazy("hosts get no addresses"),
    lazy("administrators are told late"),
    lazy("the journal of the database grows"),
    lazy("another manager may take the files of this one for its own"),
    lazy("its log says what it waits for, else look at processor and disk"),
    lazy("no round has ever begun, and the first agent joined %(days)s days ago"),
    lazy("begin one by `prsm rounds start`, or set alerts.round_days = 0"),
    lazy("no backup was made for %(days)s days"),
    lazy("no backup was ever made, and the first agent joined %(days)s days ago"),
    lazy(
        "run `prsm backup` by cron, or set alerts.backup_days = 0 where backups are made otherwise"
    ),
    lazy("the log of prsm-backup.service, or of cron, says why"),
    lazy("%(what)s ends in %(days)s days"),
    lazy("%(what)s ended %(days)s days ago"),
    lazy("a host of it was withdrawn"),
    lazy("submit it again"),
    lazy("nothing is rolled out to it"),
    lazy("pinned to %(version)s"),
    lazy("runs a newer one than %(version)s"),
    lazy("ring: %(ring)s"),
    lazy("%(number)s accepted"),
    lazy("%(machine)s, process %(number)s"),
    lazy("the command line"),
    *EVENT_PHRASES,
    *REFUSAL_PHRASES,
    *INPUT_PHRASES,
    # Whose signature, whose doing
    lazy("%(agent)s never gets %(host)s"),
    lazy("release %(key)s"),
    lazy("schedule %(number)s"),
    lazy("the TLS certificate"),
    # What a plan could not know of
    lazy("agent %(agent)s takes no part any more"),
    lazy("%(unit)s belongs to nobody by now"),
    lazy("%(unit)s belongs to %(agent)s by now"),
    lazy("%(unit)s was pinned to %(agent)s"),
    lazy("%(unit)s never goes to %(agent)s any more"),
    lazy("%(unit)s was excluded"),
    lazy("%(number)s captures"),
)
"""Shapes, the more particular before the more general. `%(what)s` is any text within a clause;
one of `NAMES` has no spaces."""

NAMES: Final = frozenset(
    ("agent", "file", "host", "name", "owner", "unit", "url", "user", "version")
)
"""Values that are names, and have no space within."""
VERBATIM: Final = frozenset((*NAMES, "choices", "command", "pattern", "value"))
"""Values that people, agents or sites wrote: one that is like a sentence of ours is none."""
WORDS: Final = frozenset(("has", "method", "needed", "outcome", "ring", "role", "state"))
"""Values that are words of a row."""

ACTORS: Final = {"tick": lazy("the manager"), "local": lazy("the command line")}
"""Who is no person, as rows name them, and how pages do."""

_UPDATE: Final = re.compile(
    r"(?P<version>\S+): (?P<outcome>updated|went-back|failed|refused|unreached)"
    r"(?: at (?P<step>[a-z-]+))?(?:[.:] ?(?P<words>.*))?",
    re.DOTALL,
)
_VALUE: Final = re.compile(r"%\((\w+)\)s")
_COUNTED: Final = re.compile(
    rf"^ ((?:(?:{'|'.join(ADJECTIVES)}) )*)({'|'.join(NOUNS)})\b(?: ({'|'.join(VERBS)})\b)?"
)
"""The words behind a number in a shape."""
_DURATION: Final = re.compile(r"\d+(?:\.\d+)? (?:d|h|min|s|ms)(?: \d+ (?:h|min|s))?")


def spoken(text: str | Message | None) -> str:
    """Return a sentence of an operation in the language of this request, or as it is."""
    if isinstance(text, Message):
        if text.code != TEXT:
            return render(text, current())
        text = str(text)
    if not text:
        return ""
    if len(text) > LONGEST:
        return text
    if current() == "en":
        return with_plurals(_in_words(text))
    plain = text.removesuffix(".")
    clauses = [_clause(clause) for clause in plain.split(CLAUSE)]
    if all(said is None for said in clauses):
        return text
    parts = [
        said if said is not None else clause
        for said, clause in zip(clauses, plain.split(CLAUSE), strict=True)
    ]
    return _joined(parts) + ("" if plain == text else _("."))


def actor(name: str | None) -> str:
    """Return who did something, in the language of this request."""
    words = ACTORS.get(name or "")
    return spoken(name) if words is None else str(words)


def actor_meant(said: str) -> str:
    """Return how rows name whom a page calls so."""
    return next((name for name, words in ACTORS.items() if str(words) == said.strip()), said)


def _in_words(text: str) -> str:
    """Return an English sentence, the words of rows in it as people write them."""
    update = _UPDATE.fullmatch(text.removesuffix("."))
    if update is None:
        return text
    return _said_of_update(**update.groupdict()) + ("." if text.endswith(".") else "")


def _joined(clauses: list[str]) -> str:
    """Return clauses as one text. Some languages end a sentence where English has a semicolon:
    behind a clause that ends in one of these."""
    ends = tuple(pgettext("endings of clauses that are sentences", "none").split())
    said = clauses[0]
    for clause in clauses[1:]:
        said += _(".") if said.endswith(ends) else pgettext("between clauses", "; ")
        said += clause
    return said


def _clause(text: str, depth: int = 0) -> str | None:
    """Return a clause as the language says it, or None where its shape is not known."""
    if _DURATION.fullmatch(text):
        return _duration(text)
    update = _UPDATE.fullmatch(text)
    if update is not None:
        return _said_of_update(**update.groupdict())
    for piece, shape, phrase in _shapes():
        found = shape.fullmatch(text) if piece in text else None
        if found is not None:
            said = str(phrase)
            given = found.groupdict().items()
            values = {name: _value(name, value, depth + 1) for name, value in given}
            return said % values if values else said
    return None


def _value(name: str, text: str, depth: int) -> str:
    """Return a value as the language says it: a word, a clause, several of them, or as it is."""
    if name in VERBATIM:
        return text
    if name in WORDS:
        return word(text)
    if name == "step":
        return step_word(text)
    if depth > DEEPEST:
        return text
    parts = [_clause(part, depth) for part in text.split(", ")]
    if None not in parts:
        return ", ".join(part for part in parts if part is not None)
    return _clause(text, depth) or text


def _said_of_update(version: str, outcome: str, step: str | None, words: str | None) -> str:
    """Return how an update went, as agents' rows and alerts have it: `1.4.0: failed at test`."""
    how = {"version": version, "outcome": word(outcome)}
    said = _("%(version)s: %(outcome)s", **how)
    if step:
        said = _("%(version)s: %(outcome)s at the step %(step)s", **how, step=step_word(step))
    return f"{said}: {words}" if words else said


def _duration(text: str) -> str:
    words = text.split(" ")
    units = {
        "d": pgettext("unit", "d"),
        "h": pgettext("unit", "h"),
        "min": pgettext("unit", "min"),
        "s": pgettext("unit", "s"),
        "ms": pgettext("unit", "ms"),
    }
    return "\u00a0".join(units.get(word, word) for word in words)


@cache
def _shapes() -> list[tuple[str, Any, Lazy]]:
    """Return each shape with its longest text between values, by which most are told at once.

    By RE2: texts are also those of agents, and what tries all ways to divide one takes minutes for
    some.
    """
    return [
        (
            max((_COUNTED.sub("", part) for part in _VALUE.split(phrase.text)[::2]), key=len),
            re2.compile(f"(?s){pattern(phrase.text)}"),
            phrase,
        )
        for phrase in (*PHRASES, *RESOLVER_PHRASES)
    ]


def pattern(text: str) -> str:
    """Return the regular expression for a shape."""
    parts = _VALUE.split(text)
    return "".join(
        (rf"(?P<{part}>\S+?)" if part in NAMES else f"(?P<{part}>.+?)")
        if place % 2
        else _literal(part)
        for place, part in enumerate(parts)
    )


def _literal(text: str) -> str:
    """Return the expression for the words of a shape; a count may be one (`with_plurals`)."""
    counted = _COUNTED.match(text)
    if counted is None:
        return re.escape(text)
    between, noun, verb = counted.groups()
    many = f" {between}{noun}" + (f" {verb}" if verb else "")
    one = f" {between}{NOUNS[noun]}" + (f" {VERBS[verb]}" if verb else "")
    rest = re.escape(text[counted.end() :])
    return f"(?:{re.escape(many)}|{re.escape(one)}){rest}"
