"""Refusals of actions with their remedies, translated for pages.

The sentences are those of operations, clause by clause; a test holds each against them, and each of
them against these.
"""

from __future__ import annotations

from typing import Final

from manager.console.language import Lazy, lazy

__all__ = ["REFUSAL_PHRASES"]

REFUSAL_PHRASES: Final[tuple[Lazy, ...]] = (
    # Signed files of releases
    lazy("%(name)s: empty"),
    lazy("give the signed file"),
    lazy("give signed targets, a signed root or both"),
    lazy("signed file of %(length)s characters: at most %(most)s are taken"),
    lazy("targets %(number)s: release %(version)s is missing or changed"),
    lazy("`prsm release revoke` takes a release away, and none is ever changed"),
    lazy("targets %(number)s: name no release that is new"),
    lazy("targets %(number)s: the next ones must be %(next)s"),
    lazy("sign from the newest (`prsm release metadata targets.json`)"),
    lazy("releases: not begun yet"),
    lazy("`prsm release init` begins"),
    lazy("releases: begun already"),
    lazy("`prsm release rotate` takes a new root"),
    lazy("releases: somebody changed them meanwhile"),
    lazy("look, and do it again"),
    lazy("targets: the first ones name no release"),
    lazy("publish releases afterwards"),
    lazy("release %(version)s: its file %(file)s (%(size)s bytes, sha256 %(digest)s) has not come"),
    lazy("name the very file that was signed"),
    lazy("targets %(number)s: must name what %(before)s name, but %(version)s"),
    lazy("make them by `prsm release sign --revoke %(version)s`"),
    lazy("targets %(number)s: must name the releases of %(before)s"),
    lazy("`prsm release publish` and `revoke` change them"),
    lazy("release %(version)s: was published before and revoked"),
    lazy("a version is never used twice"),
    # Agents and how they send
    lazy("agent %(name)s does not exist any more"),
    lazy(
        "%(name)s speaks only the five messages and gets whole hosts: directories of others share "
        "the address of %(host)s, and would move with it"
    ),
    lazy("agent %(name)s was retired: pin to one that takes part"),
    lazy("agent %(name)s was retired and calls no more"),
    lazy("agent %(name)s takes no part now: it probes nothing"),
    lazy("agent %(name)s: all that it claims is believed already"),
    lazy("agent %(name)s: its name cannot be a file's"),
    lazy("retire it"),
    lazy("agent %(name)s: there is none of that name"),
    lazy("agent name %(name)s: must be 1 to 253 of a-z 0-9 . and -"),
    lazy("use the machine's host name"),
    lazy("pages with %(command)s: only a restart deletes them"),
    lazy("agent %(agent)s speaks only the five messages: it cannot be told to delete pages"),
    lazy("restart it without"),
    lazy("%(names)s: changed since it was shown, so nothing was done"),
    lazy("the limits were changed since they were shown, so nothing was done"),
    lazy("load the page again"),
    lazy("shown %(value)s: must be as the page has it"),
    lazy("pages = %(value)s: must be 0 (all) to %(most)s"),
    lazy("rate %(value)s: must be a number of kilobytes a second"),
    lazy("%(name)s %(value)s: must be degrees, as 35.03 or -33.9"),
    lazy(
        "%(name)s = %(value)s: must be -%(least)s to %(most)s degrees, as 35.03 and 135.78 of Kyoto"
    ),
    lazy("position %(value)s: must be two numbers, degrees north and east, as 35.03 135.78"),
    lazy(
        "agent %(agent)s speaks only the five messages, and hears of no order: it sends its "
        "segments itself, by any tus client (docs/protocol.md)"
    ),
    lazy(
        "agent %(agent)s speaks only the five messages: it sends by a client of its own, which "
        "has to be told there"
    ),
    lazy(
        "bytes_per_s = %(value)s: must be at least %(least)s, with which a segment of a "
        "gigabyte takes more than a day"
    ),
    lazy("none is no limit"),
    lazy("hours: at most %(number)s windows a day"),
    lazy("hours: weekday and weekend are both empty, nothing would ever be sent"),
    lazy('%(name)s has "%(value)s": must be HH:MM-HH:MM, as 02:00-08:00'),
    lazy('%(name)s has "%(value)s": is empty'),
    lazy("all day is 00:00-24:00"),
    lazy('%(name)s has "%(value)s": must be a time of day, 00:00 to 24:00'),
    lazy("this key belongs to agent %(agent)s"),
    lazy("this key belongs to another agent"),
    lazy("make another one"),
    lazy("key hash: must be 64 hexadecimal digits, the SHA-256 of the key"),
    # Hosts, pins, bans, splitting
    lazy("host %(host)s cannot be probed: %(why)s"),
    lazy("its name has no address yet"),
    lazy("no host has an address, of %(number)s that are known"),
    lazy("it is excluded: include it first"),
    lazy("host %(host)s waits for the next round, which probes it"),
    lazy(
        "no agent but %(agent)s may have %(host)s: to keep all of them away, exclude it "
        "(`%(command)s`)"
    ),
    lazy("%(host)s is excluded: include it before it is %(what)s"),
    lazy("%(host)s is excluded: `%(command)s` it first"),
    lazy("%(host)s has no address yet: wait until its name is looked up"),
    lazy(
        "%(host)s shares its address with %(other)s: an address with several hosts is one "
        "agent's, so it cannot be split"
    ),
    lazy(
        "%(host)s shares its address with %(other)s, which is pinned to %(agent)s: unpin that "
        "first, or pin both to one agent"
    ),
    lazy(
        "%(host)s is being %(doing)s in round %(round)s: it can be %(what)s when that is over, "
        "before the next round begins"
    ),
    lazy(
        "%(host)s was crawled in round %(round)s, which goes on: it can be %(what)s when the "
        "round is over"
    ),
    lazy("probed"),
    lazy("compared"),
    lazy("crawled"),
    lazy("split"),
    lazy("merged"),
    lazy("%(host)s is not split: there is nothing to merge"),
    lazy("%(unit)s is pinned: unpin it before its host is merged"),
    lazy("%(host)s: to split it there must be two agents that sync, and there %(are)s"),
    lazy("is one"),
    lazy("is none"),
    lazy("plain agents get whole hosts only"),
    lazy("%(host)s: nothing is known of its directories"),
    lazy("they are counted when a crawl of at least 1,000 pages was reported"),
    lazy("%(host)s is split already: merge it first"),
    lazy("%(host)s cannot be cut: by round %(round)s one directory holds nearly all of its work"),
    lazy("only directories can be given to others"),
    lazy("`merge` makes it one"),
    lazy("pieces = %(value)s: must be 2 to %(most)s"),
    lazy(
        "pieces = %(value)s: %(agents)s agents could take one (plain agents get whole hosts only)"
    ),
    lazy("ask for %(number)s at most, or let more agents join"),
    lazy("interval_s = %(value)s: must be 0 to 86400 s"),
    lazy("%(unit)s is no unit any more: %(remedy)s"),
    lazy("import the host first"),
    lazy("split %(host)s there first, or pin the whole host"),
    lazy("%(agent)s is a plain agent and gets whole hosts only: not %(unit)s"),
    lazy("%(agent)s never gets %(unit)s or what shares its address: lift the ban first"),
    lazy("%(why)s: move to an agent that takes part"),
    lazy(
        "%(unit)s, or what shares its address, is pinned to %(agent)s: unpin it first, or pin it "
        "to the other agent"
    ),
    lazy("nobody owns %(unit)s yet: the next plan gives it out"),
    lazy("pin it to say to whom"),
    lazy("probes of what: name a host, an agent, or an age in days"),
    lazy("reason: is missing"),
    lazy("the audit keeps why a host was withdrawn"),
    lazy("reason of %(number)s characters: at most %(most)s"),
    lazy("%(url)s: scheme %(scheme)s, only http and https are crawled"),
    lazy("%(url)s: carries a user name or password, which a robot has not"),
    lazy("%(url)s: host name longer than %(most)s characters"),
    lazy("%(url)s: host name with an empty label"),
    lazy("%(url)s: host name with a label longer than %(most)s characters"),
    lazy("%(url)s: port %(port)s: must be 1 to %(most)s"),
    lazy("%(url)s: not a canonical URL with a host"),
    lazy("%(url)s: not a URL"),
    lazy("%(unit)s is pinned to %(agent)s"),
    lazy("%(host)s shares its address"),
    lazy("`%(command)s` first"),
    # Rounds, plans, leading
    lazy(
        "the plan that was applied last was %(then)s when this was decided, and is %(now)s: "
        "somebody has applied or taken back a plan meanwhile"
    ),
    lazy("look at it and decide again"),
    lazy("plan %(number)s"),
    lazy("none"),
    lazy(
        "no host has an address yet: import hosts, wait until their names were looked up "
        "(`%(import)s`, `%(status)s`)"
    ),
    lazy("round %(meant)s was to be cancelled, and is over"),
    lazy("round %(number)s goes on and was left alone"),
    lazy("another manager leads since epoch %(now)s"),
    lazy("this one led in epoch %(then)s, and nothing was changed"),
    lazy("another export or comparison goes on: try again when it is done"),
    lazy("log %(log)s of %(agent)s is not there: `%(command)s` lists what is missing"),
    lazy("put it back from the last copy of the data directory"),
    lazy("nothing was fetched in that time: there is nothing to draw"),
    # Collection and third parties
    lazy("way %(value)s: must be push or pull"),
    lazy(
        "condition %(value)s: since needs a first day, period a first and an end, full and "
        "difference neither"
    ),
    lazy("agent %(agent)s has %(number)s open orders: cancel one"),
    lazy("each agent has %(number)s open orders: cancel some"),
    lazy("nobody to ask: no agent is here that hears of orders"),
    lazy("schedule %(number)s: nobody to ask"),
    lazy("each agent of it has not answered its last order, or hears of none"),
    lazy("schedule %(number)s: was changed since it was shown, so nothing was done"),
    lazy("order %(number)s: there is none for agent %(agent)s"),
    lazy("order %(number)s: there is none"),
    lazy("order %(number)s: it is %(state)s already"),
    lazy("transfer %(number)s: there is none"),
    lazy("only an upload that waits for bytes can be given up"),
    lazy(
        "client name %(name)s: must be 1 to 64 lower-case letters, digits, dots, hyphens or "
        "underscores"
    ),
    lazy("contact: is missing"),
    lazy("give an address where the client is reached"),
    lazy("client %(name)s: is registered already"),
    lazy("choose another name"),
    lazy("client %(name)s: not registered"),
    lazy("scope %(value)s: must be of %(choices)s"),
    lazy(
        "daily_bytes = %(bytes)s, requests_per_minute = %(requests)s: must be >= 0 (0: no "
        "limit) and between 1 and 1,000,000"
    ),
    lazy("token %(number)s: you have none of this number"),
    lazy("token %(number)s: %(name)s has none of this number"),
    lazy("job %(number)s: there is none of this number"),
    lazy("%(file)s: it is %(state)s already"),
    # Releases, alerts, rules for all
    lazy("release %(version)s: is not published"),
    lazy("release %(version)s: was revoked"),
    lazy("publish another version"),
    lazy("pin another version"),
    lazy("release %(version)s: agents below %(least)s get no work"),
    lazy("pin a later version, or lower the minimum first"),
    lazy(
        "minimum %(version)s: no release from it on is rolled out to all, so sites below it "
        "could not get there"
    ),
    lazy("roll one out first"),
    lazy("release %(version)s: was halted since it was shown, so nothing was done"),
    lazy(
        "release %(version)s: was offered to another ring (%(ring)s) since it was shown, so "
        "nothing was done"
    ),
    lazy("release %(version)s: was rolled out again since it was shown, so nothing was done"),
    lazy("agent %(agent)s: is pinned to %(pin)s since it was shown, so nothing was done"),
    lazy("the lowest version is %(least)s since it was shown, so nothing was done"),
    lazy("version %(version)s: must be two to four numbers with dots, as 1.4.0"),
    lazy("key: name the trouble, as `%(command)s` shows it"),
    lazy("say why nobody needs to be told"),
    lazy("until: must be after the beginning, and not past"),
    lazy("quiet for more than 30 days: nobody would remember"),
    lazy("say it again then"),
    lazy("from: is more than 400 days ahead"),
    lazy("add it when it is nearer"),
    lazy("silence %(number)s: there is none"),
    lazy("manager %(name)s: there is none"),
    lazy("manager %(name)s: gave a sign of life %(time)s ago"),
    lazy("end it first, then it is forgotten by itself"),
    lazy("a pass over all kept files goes on: %(files)s of %(total)s were read"),
    lazy("interval_s = %(value)s: must be 0 to %(most)s"),
    lazy("sites keep 20 s where nothing else is said"),
    lazy("parallel_hosts = %(value)s: must be 1 to 1,000,000"),
    lazy("bytes_per_s = %(value)s: must be at least %(least)s"),
    lazy("to stop agents, pause them"),
    lazy("block list: no expression was given"),
    lazy("write one a line"),
    lazy("block list: %(held)s lines and %(new)s more"),
    lazy(
        "at most %(most)s. Join some by `|`, or put what concerns one site into its prs.toml "
        "(politeness.blocked)"
    ),
    lazy("block list: %(size)s bytes"),
    lazy("at most %(most)s, because every sync carries it"),
    lazy("line %(number)s: the block list has none of this number"),
    lazy("line %(number)s: %(length)s characters"),
    lazy("at most %(most)s"),
    lazy("line %(number)s: %(pattern)s matches every URL, so nothing would be fetched any more"),
    lazy("say what is to be blocked"),
    lazy("line %(number)s: %(value)s is no RE2: %(why)s"),
    lazy("RE2 has no look-ahead and no look-behind"),
    lazy("write what is to match"),
    lazy("* + ? {n} stand behind what is repeated, at most 1,000 times"),
    lazy("the sign itself is \\?"),
    lazy("[a-z] goes from the smaller to the greater sign, and ends with ]"),
    lazy("behind \\ stands d, w, s, b or a sign that is meant as it is"),
    lazy("%(address)s has all that RE2 knows"),
)
