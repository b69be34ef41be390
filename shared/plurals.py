"""Agreement of English sentences with the number 1: `1 unit changes hands`.

Operations write the plural, as for most numbers: f"{moves} units change hands", and the console
says it right, also of rows of years ago. `agreeing` puts the noun behind a 1, and the verb behind
that, into the singular; any other text stays as it is.
"""

from __future__ import annotations

import re
from typing import Final

__all__ = ["NOUNS", "VERBS", "agreeing"]

NOUNS: Final = {
    **{
        f"{noun}s": noun
        for noun in (
            "agent", "backup", "byte", "capture", "character", "client", "connection", "day",
            "download", "edge", "exchange", "field", "file", "group", "host", "hour", "iteration",
            "job", "line", "log", "login", "manager", "minute", "month", "move", "name",
            "neighbour", "neighbor", "number", "object", "order", "page", "pair", "part", "piece",
            "pin", "plan", "probe", "process", "release", "report", "request", "round", "row",
            "rule", "schedule", "second", "segment", "session", "silence", "step", "sweep", "table",
            "time", "token", "transfer", "unit", "upload", "URL", "user", "week", "word", "year",
        )
    },
    "addresses": "address",
    "copies": "copy",
    "directories": "directory",
    "entries": "entry",
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

_NOUN: Final = "|".join(sorted(NOUNS, key=len, reverse=True))
_VERB: Final = "|".join(VERBS)
_ONE: Final = re.compile(rf"(?<![\w.,:/+-])1 ({_NOUN})\b(?: ({_VERB})\b)?")
_ONE_OF: Final = re.compile(rf"(?<![\w.,:/+-])(1 of [0-9][0-9,]* (?:{_NOUN})) ({_VERB})\b")


def agreeing(text: str) -> str:
    """Return a sentence in which what stands behind the number 1 is singular."""
    if "1 " not in text:
        return text
    text = _ONE.sub(_singular, text)
    return _ONE_OF.sub(lambda found: f"{found[1]} {VERBS[found[2]]}", text)


def _singular(found: re.Match[str]) -> str:
    verb = f" {VERBS[found[2]]}" if found[2] else ""
    return f"1 {NOUNS[found[1]]}{verb}"
