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
from typing import Final

from manager.console.language import Lazy, _, current, lazy, pgettext
from manager.console.setting_phrases import SETTING_PHRASES
from manager.console.words import word

__all__ = ["CLAUSE", "PHRASES", "pattern", "spoken"]

LONGEST: Final = 2000
CLAUSE: Final = "; "
PHRASES: Final[tuple[Lazy, ...]] = (
    *SETTING_PHRASES,
    # How an agent is
    lazy("it was retired and gets no work any more"),
    lazy("it has never called"),
    lazy("last heard %(time)s ago"),
    lazy("it was expected %(time)s ago, and its permit is over: others take its units"),
    lazy("it was expected %(time)s ago"),
    lazy("others take its units in %(time)s"),
    lazy("it sleeps until %(time)s"),
    lazy("it calls once a night, by %(time)s"),
    lazy("last fetched a page %(time)s ago, %(urls)s URLs waiting"),
    lazy("last fetched a page %(time)s ago"),
    lazy("it has no unit to fetch"),
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
    # Distances
    lazy(
        "%(size)s bytes in %(time)s ms over %(number)s requests, %(lost)s of them without an answer"
    ),
    lazy("%(size)s bytes in %(time)s ms over %(number)s requests"),
    lazy("too little to rely on"),
    lazy("one request took %(time)s ms, without it the distance is %(distance)s ms per KByte"),
    lazy("none of %(number)s requests was answered"),
    lazy("predicted, nobody measured it"),
    lazy("two of three are within %(times)s times"),
    lazy("the agent said: %(words)s"),
    lazy("%(times)s times %(word)s than the other agents' distances make expect"),
    lazy("farther"),
    lazy("nearer"),
    # Hosts, pins, plans, rounds
    lazy("is pinned to %(agent)s, which is ignored"),
    lazy("no agent that is here may own it, or what shares its address"),
    lazy("pinned to this agent"),
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
    lazy("agent %(name)s did not update to %(said)s"),
    lazy("%(number)s units changed hands in a day, more than %(limit)s"),
    lazy("the centre has %(size)s of disk left"),
    lazy("no round has begun for %(days)s days"),
    lazy("%(name)s ends in %(days)s days"),
    lazy("%(name)s ended %(days)s days ago"),
    lazy("a host of it was withdrawn"),
    lazy("submit it again"),
    lazy("nothing is rolled out to it"),
    lazy("pinned to %(version)s"),
    lazy("runs a newer one than %(version)s"),
    lazy("ring: %(ring)s"),
    lazy("%(number)s captures"),
    lazy("%(number)s accepted"),
    lazy("%(machine)s, process %(number)s"),
    lazy("the command line"),
    # People
    lazy("user name or password is wrong"),
    lazy("user name %(name)s: must be 1 to 64 of letters, digits and . _ @ -"),
    lazy("user %(name)s is disabled"),
    lazy("ask an administrator"),
    lazy("user %(name)s exists already"),
    lazy("change the password instead"),
    lazy("%(number)s wrong passwords in a row: try again in %(time)s s"),
    lazy("password of %(number)s characters: must be %(least)s to %(most)s"),
    lazy("%(name)s is the last administrator"),
    lazy("make another one first"),
    # What the console itself refuses
    lazy("client %(name)s: there is none of this name"),
    lazy("%(path)s: there is nothing of that number"),
    lazy("%(path)s: there is no such drawing"),
    lazy("before %(value)s: must be the number of a row"),
    lazy("sort by distance: of all pairs it takes too long"),
    lazy("name an agent or a host"),
    lazy("older than %(value)s days: must be a number, or empty"),
    lazy("expression: %(value)s is no RE2: %(why)s"),
    lazy("brackets come in pairs"),
    lazy("a bracket of the URL itself is %(one)s or %(other)s"),
    lazy("%(name)s is %(role)s: this needs the role %(needed)s, which an administrator can give"),
    lazy("%(path)s: there is no such page"),
    lazy("%(name)s %(value)s: must be one of %(choices)s"),
    lazy("%(name)s %(value)s: must be a whole number"),
)
"""Shapes, the more particular before the more general. `%(name)s` is any text within a clause."""

_DURATION: Final = re.compile(r"\d+(?:\.\d+)? (?:d|h|min|s|ms)(?: \d+ (?:h|min|s))?")


def spoken(text: str | None) -> str:
    """Return a sentence of an operation in the language of this request, or as it is."""
    if not text:
        return ""
    if current() == "en" or len(text) > LONGEST:
        return text
    plain = text.removesuffix(".")
    clauses = [_clause(clause) for clause in plain.split(CLAUSE)]
    if all(said is None for said in clauses):
        return text
    parts = [
        said if said is not None else clause
        for said, clause in zip(clauses, plain.split(CLAUSE), strict=True)
    ]
    return pgettext("between clauses", "; ").join(parts) + ("" if plain == text else _("."))


def _clause(text: str) -> str | None:
    """Return a clause as the language says it, or None where its shape is not known."""
    if _DURATION.fullmatch(text):
        return _duration(text)
    for shape, phrase in _shapes():
        found = shape.fullmatch(text)
        if found is not None:
            said = str(phrase)
            values = {name: _value(name, text) for name, text in found.groupdict().items()}
            return said % values if values else said
    return None


def _value(name: str, text: str) -> str:
    """Return a value as the language says it: a state, a clause, several of them, or as it is."""
    if name == "state":
        return word(text)
    parts = [_clause(part) for part in text.split(", ")]
    if None not in parts:
        return ", ".join(part for part in parts if part is not None)
    return _clause(text) or text


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
def _shapes() -> list[tuple[re.Pattern[str], Lazy]]:
    return [(re.compile(pattern(phrase.text), re.DOTALL), phrase) for phrase in PHRASES]


def pattern(text: str) -> str:
    """Return the regular expression for a shape."""
    parts = re.split(r"%\((\w+)\)s", text)
    return "".join(
        f"(?P<{part}>.+?)" if place % 2 else re.escape(part) for place, part in enumerate(parts)
    )
