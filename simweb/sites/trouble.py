"""The kinds of trouble: what each is, how often it occurs by default, what it means for a crawl.

Page trouble sits on separate leaves, `/t/KIND/N.html`, linked from ordinary pages; so no
ordinary page is lost by it, and a log shows what a crawler met. Host trouble takes a whole host.
How each kind is answered stands in `answers`, `leaves` and `dns`.
"""

from __future__ import annotations

import difflib
from enum import Enum

from shared.errors import SettingError
from shared.frozen import frozen

__all__ = [
    "HOST_TROUBLE",
    "PAGE_TROUBLE",
    "Amount",
    "Outcome",
    "Trouble",
    "amounts",
]


class Outcome(Enum):
    """The outcome of a URL for an honest, complete crawl."""

    CAPTURE = "capture"  # 200, complete, allowed
    RETRY = "retry"  # 200, but not at the first request
    SLOW = "slow"  # 200, complete, after --slow-s
    REDIRECT = "redirect"  # leads elsewhere
    ERROR = "error"  # never 200
    DAMAGED = "damaged"  # 200, but the body is broken
    DENIED = "denied"  # robots.txt forbids it
    NOINDEX = "noindex"  # 200, and asks not to be kept
    NOFOLLOW = "nofollow"  # 200, but every link to it says nofollow
    TRAP = "trap"  # 200, and the links never end
    EXCESS = "excess"  # 200, over any sane limit
    SITEMAP = "sitemap"  # 200, and only robots.txt leads there


@frozen
class Trouble:
    """One kind: its default rate (a page or a host), its outcome, and what happens."""

    rate: float
    outcome: Outcome
    what: str


PAGE_TROUBLE = {
    "redirect": Trouble(0.02, Outcome.REDIRECT, "301, 302, 303, 307 or 308 to a landing page"),
    "redirect-chain": Trouble(0.005, Outcome.REDIRECT, "4 hops to a landing page"),
    "redirect-deep": Trouble(0.002, Outcome.REDIRECT, "20 hops to the host's top page"),
    "redirect-host": Trouble(0.005, Outcome.REDIRECT, "to another host's top page"),
    "redirect-loop": Trouble(0.003, Outcome.REDIRECT, "to itself by way of a second URL"),
    "not-found": Trouble(0.02, Outcome.ERROR, "404"),
    "gone": Trouble(0.003, Outcome.ERROR, "410"),
    "error": Trouble(0.005, Outcome.ERROR, "500"),
    "busy": Trouble(0.003, Outcome.RETRY, "429 with Retry-After until that time has passed"),
    "flaky": Trouble(0.005, Outcome.RETRY, "503 to the first request, then 200"),
    "slow": Trouble(0.002, Outcome.SLOW, "the body drips over --slow-s"),
    "hang": Trouble(0.001, Outcome.ERROR, "the request is read, no answer ever comes"),
    "reset": Trouble(0.001, Outcome.ERROR, "half of the body, then a TCP reset"),
    "cut": Trouble(0.003, Outcome.DAMAGED, "the body ends before its Content-Length"),
    "cut-chunked": Trouble(0.001, Outcome.DAMAGED, "chunked, and the last chunk never comes"),
    "wrong-length": Trouble(0.002, Outcome.DAMAGED, "the body is longer than Content-Length says"),
    "broken-gzip": Trouble(0.002, Outcome.DAMAGED, "Content-Encoding gzip, a byte is wrong"),
    "cut-gzip": Trouble(0.002, Outcome.DAMAGED, "Content-Encoding gzip, the stream ends early"),
    "garbage": Trouble(0.001, Outcome.ERROR, "the answer is no HTTP"),
    "duplicate": Trouble(0.01, Outcome.CAPTURE, "byte for byte the same as another page"),
    "noindex": Trouble(0.003, Outcome.NOINDEX, "a page with robots noindex"),
    "nofollow": Trouble(0.003, Outcome.NOFOLLOW, "linked by rel=nofollow only"),
    "image": Trouble(0.0, Outcome.CAPTURE, "a PNG, linked by img"),
    "large": Trouble(0.0, Outcome.EXCESS, "a page of 25 MB"),
    "bomb": Trouble(0.0, Outcome.EXCESS, "0.1 MB of gzip that holds 100 MB"),
    "endless": Trouble(0.0, Outcome.EXCESS, "a chunked body without end"),
    "big-header": Trouble(0.0, Outcome.EXCESS, "80 KB of response headers"),
    "trap": Trouble(0.0, Outcome.TRAP, "a calendar: each page links to the next, for ever"),
    "trap-path": Trouble(0.0, Outcome.TRAP, "a relative link that repeats a path segment"),
    "trap-session": Trouble(0.0, Outcome.TRAP, "one page under ever new session numbers"),
}

HOST_TROUBLE = {
    "nxdomain": Trouble(0.01, Outcome.ERROR, "its name does not exist"),
    "servfail": Trouble(0.005, Outcome.ERROR, "its name server fails"),
    "dns-hang": Trouble(0.0, Outcome.ERROR, "its name server never answers"),
    "dns-tcp": Trouble(0.01, Outcome.CAPTURE, "UDP answers are truncated: ask by TCP"),
    "refused": Trouble(0.01, Outcome.ERROR, "nothing listens at its address"),
    "hang": Trouble(0.005, Outcome.ERROR, "accepts connections, never answers"),
    "reset": Trouble(0.003, Outcome.ERROR, "resets each connection at the first request"),
    "error": Trouble(0.005, Outcome.ERROR, "503 to everything but robots.txt"),
    "slow": Trouble(0.005, Outcome.SLOW, "every answer drips over --slow-s"),
    "redirect": Trouble(0.01, Outcome.REDIRECT, "every page redirects to another host"),
    "rate-limited": Trouble(0.01, Outcome.RETRY, "429 when asked faster than --rate-limit-ms"),
}


@frozen
class Amount:
    """The amount of one kind: a rate for each page or host, or a count over the whole world."""

    rate: float = 0.0
    count: int | None = None


def amounts(
    kinds: dict[str, Trouble], given: tuple[str, ...], scale: float, flag: str
) -> dict[str, Amount]:
    """Return the amount of every kind: its default times `scale`, or the given one.

    given: `KIND=0.01` is a rate, `KIND=3` a count, and `all` stands for every kind.
    """
    found = {kind: Amount(rate=trouble.rate * scale) for kind, trouble in kinds.items()}
    for text in given:
        kind, _, value = text.partition("=")
        if kind != "all" and kind not in kinds:
            near = difflib.get_close_matches(kind, kinds, 1)
            hint = f"did you mean {near[0]}?" if near else f"kinds: {', '.join(kinds)}"
            raise SettingError(f"{flag} {text}: no kind {kind!r}; {hint}")
        for name in kinds if kind == "all" else (kind,):
            found[name] = _amount(value, f"{flag} {text}")
    return found


def _amount(value: str, where: str) -> Amount:
    try:
        amount = Amount(count=int(value)) if value.isdigit() else Amount(rate=float(value))
    except ValueError:
        amount = Amount(rate=-1.0)
    if not 0 <= amount.rate <= 1:
        raise SettingError(f"{where}: write KIND=0.01 for a rate up to 1.0 or KIND=3 for a count")
    return amount
