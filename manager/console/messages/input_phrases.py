"""Errors about input and permissions, translated for pages.

The sentences are those of the console and of operations, clause by clause, as in `refusal_phrases`.
"""

from __future__ import annotations

from typing import Final

from manager.console.language import Lazy, lazy

__all__ = ["INPUT_PHRASES"]

INPUT_PHRASES: Final[tuple[Lazy, ...]] = (
    # The way to the console
    lazy("passwords and sessions are taken over TLS or from loopback only"),
    lazy("this line is plain HTTP: use https, or log in on the manager's own machine"),
    lazy("docs/operations.md says how to put TLS in front"),
    lazy(
        "a proxy that is not configured forwarded this (%(sign)s): set server.behind_tls_proxy "
        "and have the proxy end TLS, as deploy/nginx.conf does"
    ),
    lazy(
        "this was asked of the host %(host)s, which is no name of loopback: use https, or "
        "127.0.0.1 on the manager's own machine"
    ),
    lazy(
        "the proxy sent X-Forwarded-Proto: %(value)s: have it end TLS and send X-Forwarded-Proto: "
        "https, as deploy/nginx.conf does"
    ),
    lazy(
        "server.behind_tls_proxy is on, and %(address)s is not in server.proxy_addresses: use the "
        "proxy's address, or `prsm` on the manager's machine"
    ),
    lazy(
        "This change was sent by a page of another origin, so it was not done. Open the "
        "console itself and do it there"
    ),
    lazy("content type %(kind)s: the console's forms are %(form)s"),
    lazy("a form of more than %(most)s fields: send less"),
    lazy("%(name)s: holds the character U+0000, which can neither be kept nor looked for"),
    lazy("leave it out"),
    # Times, numbers, schedules
    lazy("a number in this is larger than %(most)s, the largest that is kept"),
    lazy("say a smaller one"),
    lazy("hours = %(value)s: must be more than 0 and at most 720, 30 days"),
    lazy("hours %(value)s: must be a number, as 8 or 0.5"),
    lazy("%(name)s %(value)s: must be a moment, as 2026-12-01T22:00"),
    lazy("%(name)s %(value)s: must be a day or a moment, as 2026-11-21 or 2026-11-21T04:30"),
    lazy("it is UTC unless it says another zone, as +09:00"),
    lazy("time zone %(zone)s: not known here, as Asia/Tokyo"),
    lazy("time zone %(zone)s: not known here"),
    lazy("write it as Asia/Tokyo"),
    lazy("day %(value)s: write it as 2026-11-22"),
    lazy("days %(value)s: must be a whole number of 1 to %(most)s"),
    lazy("days = %(value)s: must be 1 to %(most)s"),
    lazy("days = %(value)s: must be between 1 and %(most)s"),
    lazy("older than %(value)s days: must be 0 to %(most)s"),
    lazy(
        "area %(value)s: must be four numbers of degrees, south,west,north,east, as "
        "34.7,135.5,35.1,135.8"
    ),
    lazy("percent of units %(value)s: must be a number from 0 to 100, or empty"),
    lazy("moves = %(value)s: must be 0 to 1, a share of the placed units"),
    lazy("share = %(value)s: must be above 0 and at most 1"),
    lazy("the default is 1"),
    lazy("%(name)s %(value)s: must be a whole number of at most nine digits"),
    lazy("%(name)s %(value)s: must be less than 1,000,000,000,000"),
    lazy("%(name)s = %(value)s: must be a whole number, or nothing"),
    lazy("%(name)s = %(value)s: must be a number, or nothing"),
    lazy("%(name)s = %(value)s: must be 50 or all"),
    lazy("%(field)s = %(value)s: must be %(least)s to %(most)s, or *"),
    lazy("%(field)s = %(value)s: must begin before it ends"),
    lazy("%(field)s = %(value)s: a step must be 1 to 99, as */15"),
    lazy("minute"),
    lazy("hour"),
    lazy("day of month"),
    lazy("month"),
    lazy("day of week"),
    lazy("a schedule of %(number)s characters: at most %(most)s"),
    lazy(
        "schedule %(value)s: must have five fields (minute, hour, day of month, month, day of "
        "week), as `0 2 * * 1-5`, or be @daily or the like"
    ),
    lazy("schedule %(value)s: no month that it names has such a day of the month"),
    lazy("schedule %(number)s: there is none"),
    lazy("there are %(number)s schedules already: remove one"),
    lazy("a period must begin before it ends"),
    # Logs
    lazy(
        "host %(host)s: must be a name without scheme and port, as www.example.jp, or "
        "*.example.jp for all names below"
    ),
    lazy("for a part of a URL there is another field"),
    lazy("status %(value)s: must be as 404 or 5xx"),
    lazy("`none` is no answer, `bad` is none, or 400 and above"),
    lazy("mark %(value)s: must be as an answer gave it, as 17.250"),
    lazy(
        "%(number)s searches of logs at a time, one of each person: this one waited for %(time)s s"
    ),
    lazy("try again in a moment"),
    # Parameters of an address
    lazy("%(name)s: unknown %(what)s"),
    lazy("query parameter"),
    lazy("did you mean %(name)s?"),
    lazy("known: %(names)s"),
    lazy("it takes none"),
    lazy("%(name)s: is given twice"),
    lazy("give one value"),
    lazy("search: is given beside domain or text, and looks for both itself"),
    lazy("give one of them"),
    # Tokens of scripts, users
    lazy("token name %(name)s: must be 1 to 64 of letters, digits and . _ -"),
    lazy("a script's token must end"),
    lazy("token %(name)s: %(owner)s has one of this name"),
    lazy("revoke it first"),
    lazy("tokens: %(owner)s has %(number)s"),
    lazy("revoke some that nobody uses"),
    lazy("user %(name)s is disabled and gets no token"),
    lazy("role %(role)s: %(owner)s is %(has)s, and a token may do no more than its user"),
    lazy("role %(value)s: must be viewer, operator or admin"),
    lazy("role %(value)s: must be %(choices)s"),
    lazy("session %(number)s: %(name)s has none, or it is over"),
    lazy("join token for %(name)s: none waits to be used"),
    # People
    lazy("user name or password is wrong"),
    lazy("user name %(name)s: must be 1 to 64 of letters, digits and . _ @ -"),
    lazy("user %(name)s is disabled"),
    lazy("ask an administrator"),
    lazy("user %(name)s exists already"),
    lazy("change the password instead"),
    lazy("%(number)s wrong passwords in a row: try again in %(time)s s"),
    lazy(
        "%(number)s logins from this address are under way, which is the limit "
        "(limits.logins_per_address): try again in %(time)s s"
    ),
    lazy("%(number)s logins wait already, which is the limit (%(name)s): try again in %(time)s s"),
    lazy(
        "your session is over, and a form of more than %(number)s bytes is not kept: log in in "
        "another tab, then go back to the form and send it again"
    ),
    lazy("try again in %(time)s s"),
    lazy("password of %(number)s characters: must be %(least)s to %(most)s"),
    lazy("the present password is another one"),
    lazy("the new password was typed in two ways"),
    lazy("id_of %(value)s: must be database, files or empty"),
    lazy("the files do not bear one id (%(value)s), so the database cannot take it"),
    lazy("adopt them with the id of the database"),
    lazy("the new password is the present one"),
    lazy("%(name)s has no password to change: log in, or use `%(command)s`"),
    lazy("choose another one"),
    lazy("%(name)s is the last administrator"),
    lazy("make another one first"),
    # What the console itself refuses
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
    lazy("%(name)s %(value)s: must be a number, or empty"),
)
