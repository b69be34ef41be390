"""Agreement of English sentences with the number 1: `1 unit changes hands`.

Programs write the plural, as for most numbers: f"{moves} units change hands". Each outlet puts it
right: refusals (`PrsmError`), what commands print, logs, alerts, the console, which shows rows of
years ago, too. `with_plurals` puts the noun behind a 1, and its verb, into the singular;
any other text stays unchanged. `tests/test_plurals.py` holds each sentence to that.
"""

from __future__ import annotations

import re
from typing import Final

__all__ = ["ADJECTIVES", "NOUNS", "VERBS", "with_plurals"]

NOUNS: Final = {
    **{
        f"{noun}s": noun
        for noun in (
            "agent", "backup", "block", "byte", "capture", "character", "client", "connection",
            "cost", "date", "day", "digit", "distance", "download", "edge", "encoding", "error",
            "exchange", "field", "file", "group", "host", "hour", "inode", "item", "iteration",
            "job", "line", "link", "list", "log", "login", "manager", "minute", "month", "move",
            "name", "neighbour", "neighbor", "number", "object", "order", "page", "pair",
            "parameter", "part", "password", "pattern", "piece", "pin", "plan", "probe", "problem",
            "process", "release", "report", "request", "result", "round", "row", "rule", "schedule",
            "second", "segment", "selection", "session", "signature", "silence", "step", "strike",
            "sweep", "table", "time", "token", "transfer", "unit", "upload", "URL", "user", "value",
            "week", "window", "word", "worker", "year",
        )
    },
    "addresses": "address",
    "copies": "copy",
    "directories": "directory",
    "entries": "entry",
    "indexes": "index",
    "processes": "process",
    "tries": "try",
}  # fmt: skip
"""Each plural that sentences count, with its singular."""

VERBS: Final = {
    "are": "is",
    "were": "was",
    "have": "has",
    "do": "does",
    "go": "goes",
    **{
        verb: f"{verb}s"
        for verb in (
            "belong", "bring", "change", "come", "fail", "get", "hold", "make", "name", "need",
            "run", "say", "stay", "take", "wait",
        )
    },
}  # fmt: skip
"""Each verb that stands behind such a noun, with its form behind a singular."""

ADJECTIVES: Final = (
    "block", "committed", "control", "crawl", "decoded", "further", "kept", "more", "new", "open",
    "other", "page", "sealed", "start", "wrong",
)  # fmt: skip
"""Words that stand between a number and its noun."""

_ADJECTIVE: Final = "|".join(ADJECTIVES)
_NOUN: Final = "|".join(sorted(NOUNS, key=len, reverse=True))
_VERB: Final = "|".join(VERBS)
_ONE: Final = re.compile(
    rf"(?<![\w.,:/+-])(?<!edge )(?<!line )(?<!plan )(?<!step )"
    rf"1 ((?:(?:{_ADJECTIVE}) ){{0,2}})({_NOUN})\b(?: ({_VERB})\b)?"
)
_ONE_OF: Final = re.compile(rf"(?<![\w.,:/+-])(1 of [0-9][0-9,]* (?:{_NOUN})) ({_VERB})\b")


def with_plurals(text: str) -> str:
    """Return a sentence in which the noun behind the number 1 is singular."""
    if "1 " not in text:
        return text
    text = _ONE.sub(_singular, text)
    return _ONE_OF.sub(lambda found: f"{found[1]} {VERBS[found[2]]}", text)


def _singular(found: re.Match[str]) -> str:
    verb = f" {VERBS[found[3]]}" if found[3] else ""
    return f"1 {found[1]}{NOUNS[found[2]]}{verb}"
