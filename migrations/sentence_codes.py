"""Codes and parameters of sentences of schema 0047, and the way back.

Kinds of values: int, float, duration (`3 h 20 min`, in ms), minutes (in ms), gigabytes (in bytes),
percent (a share), literal (quoted as Python writes it), list (at commas), message (a sentence of
the same group, else `general.text`), parts (a list of such, at commas), times and fraction (how
many times more or less), failures (clauses `of them N: WORDS`), weekday (`Mon` to `Sun`).

RE2 reads them: its time grows with the length of a text only, and agents wrote some of these.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from typing import Any, Final, NamedTuple

import re2

from migrations.old_sentences import SENTENCES

__all__ = ["code_of", "sentence_of"]

TEXT: Final = "general.text"
LONGEST: Final = 4_000
_ROW: Final = re.compile(r"([a-z][a-z0-9_]*\.[a-z0-9][a-z0-9_]*)(?: (\{.*\}))?", re.DOTALL)
_VALUE: Final = re.compile(r"%\((\w+)\)s")
_COUNT: Final = re.compile(r"^ (\w+)s\b(?: (are|have|do|go|belong|change|wait))?")
_UNITS: Final = {"d": 86_400_000, "h": 3_600_000, "min": 60_000, "s": 1000, "ms": 1}
_DAYS: Final = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
_FILE: Final = re.compile(r"[A-Za-z0-9._-]+\.warc\.gz: (?=.)")
Message = dict[str, Any]


class _Pattern(NamedTuple):
    shape: Any
    sentence: str
    code: str
    kinds: Mapping[str, Any]


def code_of(text: str, groups: tuple[str, ...]) -> str | None:
    """Return the code and parameters of a sentence, as rows hold them; None: leave it."""
    if _ROW.fullmatch(text) or len(text) > LONGEST:
        return None
    plain = _FILE.sub("", text, count=1) if "segments" in groups else text
    found = _read(plain, groups) or _doubts(plain, groups)
    if found is None:
        return None
    if not found["params"]:
        return str(found["code"])
    given = json.dumps(found["params"], ensure_ascii=False, separators=(",", ":"))
    return f"{found['code']} {given}"


def sentence_of(text: str, groups: tuple[str, ...]) -> str | None:
    """Return the sentence of a code, as rows of schema 0047 had it; None: leave it."""
    found = _ROW.fullmatch(text)
    if found is None:
        return None
    try:
        params = json.loads(found[2]) if found[2] else {}
    except ValueError:
        return None
    return _written({"code": found[1], "params": params}, groups)


def _read(text: str, groups: tuple[str, ...]) -> Message | None:
    for pattern in _patterns(groups):
        found = pattern.shape.fullmatch(text)
        if found is None:
            continue
        try:
            return {"code": pattern.code, "params": _params(pattern, found.groupdict(), groups)}
        except (ValueError, SyntaxError):
            continue
    return None


def _params(
    pattern: _Pattern, values: Mapping[str, str], groups: tuple[str, ...]
) -> dict[str, Any]:
    params: dict[str, Any] = {}
    for name, text in values.items():
        kind = pattern.kinds.get(name, "text")
        if not isinstance(kind, tuple):
            params[name] = _value(str(kind), text, groups)
    for name, kind in pattern.kinds.items():
        if isinstance(kind, tuple):
            code, given = kind
            inner = {one: _value(str(how), values[one], groups) for one, how in given.items()}
            params = {key: value for key, value in params.items() if key not in given}
            params[name] = {"code": code, "params": inner}
        elif name not in values:
            params[name] = kind
    return params


def _value(kind: str, text: str, groups: tuple[str, ...]) -> Any:
    if kind == "message":
        return _read(text, groups) or {"code": TEXT, "params": {"text": text}}
    if kind == "parts":
        return [_value("message", one, ("parts",)) for one in text.split(", ")]
    return _KINDS[kind](text)


def _doubts(text: str, groups: tuple[str, ...]) -> Message | None:
    """Return several doubts of one agent, which were written one behind the other."""
    if "suspects" not in groups or "; " not in text:
        return None
    doubts = [_read(one, groups) for one in text.split("; ")]
    if None in doubts:
        return None
    return {"code": "measurement.doubts", "params": {"doubts": doubts}}


def _written(message: Mapping[str, Any], groups: tuple[str, ...]) -> str | None:
    code, params = str(message["code"]), message.get("params", {})
    if code == TEXT:
        return str(params.get("text", ""))
    if code == "measurement.doubts":
        return "; ".join(_said(one, groups) for one in params.get("doubts", ()))
    for pattern in _patterns(groups):
        if pattern.code == code and _fits(pattern, params):
            values = {name: _said(value, groups) for name, value in params.items()}
            for name, kind in pattern.kinds.items():
                if isinstance(kind, tuple):
                    inner = params[name].get("params", {})
                    values |= {one: _said(value, groups) for one, value in inner.items()}
                elif kind == "minutes":
                    values[name] = str(int(params[name]) // 60_000)
                elif kind == "duration":
                    values[name] = f"{int(params[name]) // 1000} s"
            return pattern.sentence % values
    return None


def _fits(pattern: _Pattern, params: Mapping[str, Any]) -> bool:
    """Return whether a pattern writes these parameters: it has each, and its fixed ones agree."""
    for name, kind in pattern.kinds.items():
        if isinstance(kind, tuple):
            given = params.get(name)
            if not isinstance(given, Mapping) or given.get("code") != kind[0]:
                return False
        elif name not in params:
            return False
    inner = {one for kind in pattern.kinds.values() if isinstance(kind, tuple) for one in kind[1]}
    return {*_VALUE.findall(pattern.sentence)} - inner <= {*params}


def _said(value: Any, groups: tuple[str, ...]) -> str:
    if isinstance(value, Mapping):
        if str(value.get("code", "")).startswith(("general.times", "general.fraction")):
            return str(value.get("params", {}).get("times", ""))
        code = str(value.get("code", ""))
        if code.startswith("agent.weekday_"):
            return _DAYS[int(code[-1]) - 1]
        return _written(value, (*groups, "parts")) or code
    if isinstance(value, list):
        return ", ".join(_said(one, groups) for one in value)
    return str(value)


def _duration_ms(text: str) -> int:
    if text == "less than 1 s":
        return 0
    words = text.split()
    if not words or len(words) % 2 or not {*words[1::2]} <= {*_UNITS}:
        raise ValueError(text)
    pairs = zip(words[::2], words[1::2], strict=True)
    return round(sum(float(number) * _UNITS[unit] for number, unit in pairs))


def _number(text: str) -> float:
    number = float(text.replace(",", ""))
    return int(number) if number.is_integer() else number


def _ratio(code: str) -> Callable[[str], Message]:
    def read(text: str) -> Message:
        """Return the message of a ratio in words."""
        over = text.startswith("more than ")
        number = _number(text.removeprefix("more than "))
        return {"code": f"general.{code}_over" if over else f"general.{code}",
                "params": {"times": number}}  # fmt: skip

    return read


def _failures(text: str) -> list[Message]:
    found = []
    for clause in text.split("; "):
        number, words = clause.removeprefix("of them ").split(": ", 1)
        params = {"hosts": int(number.replace(",", "")), "failure": _FAILURES.get(words, words)}
        found.append({"code": "alerts.hosts_few_failures", "params": params})
    return found


_FAILURES: Final = {
    "no such name (NXDOMAIN)": "no_such_name",
    "the name has no address": "no_address",
    "not a name that DNS can hold": "not_a_name",
    "no answer from a name server in time": "name_timeout",
    "the name server refuses to answer (REFUSED)": "name_refused",
    "the name server failed (SERVFAIL)": "name_server_failed",
    "no name server can be reached": "name_server_away",
    "no usable answer from a name server": "name_unanswered",
    "an address that must not be crawled": "forbidden_address",
    "unreachable: no page came": "unreachable",
    "the host asks for more time than a crawl waits": "asks_for_time",
}
_KINDS: Final[Mapping[str, Callable[[str], Any]]] = {
    "text": str,
    "int": lambda text: int(text.replace(",", "")),
    "float": _number,
    "percent": lambda text: float(text.rstrip("%")) / 100,
    "duration": _duration_ms,
    "minutes": lambda text: int(text) * 60_000,
    "gigabytes": lambda text: round(float(text.replace(",", "")) * 1e9),
    "literal": lambda text: str(ast.literal_eval(text)),
    "list": lambda text: text.split(", "),
    "times": _ratio("times"),
    "fraction": _ratio("fraction"),
    "failures": _failures,
    "weekday": lambda text: {"code": f"agent.weekday_{_DAYS.index(text) + 1}", "params": {}},
}


@cache
def _patterns(groups: tuple[str, ...]) -> list[_Pattern]:
    given: Iterable[Any] = (one for group in groups for one in SENTENCES[group])
    made = [
        _Pattern(
            re2.compile(f"(?s){_shape(one[0])}"), one[0], one[1], one[2] if len(one) > 2 else {}
        )
        for one in given
    ]
    made.sort(key=lambda one: -len(_VALUE.sub("", one.sentence)))
    return made


def _shape(sentence: str) -> str:
    """Return the expression for a sentence. A noun behind a number may be in the singular."""
    parts = _VALUE.split(sentence)
    shape = ""
    for at, part in enumerate(parts):
        if at % 2:
            shape += f"(?P<{part}>.+?)"
            continue
        counted = _COUNT.match(part) if at else None
        if counted is None:
            shape += re.escape(part)
        else:
            verb = f"(?: {counted[2]}| is| has| does| goes| {counted[2]}s)" if counted[2] else ""
            shape += f" {counted[1]}s?{verb}{re.escape(part[counted.end() :])}"
    return shape
