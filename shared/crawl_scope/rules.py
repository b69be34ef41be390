"""Scope rules as people write them: one a line, the first that matches decides.

    include *.jp
    exclude host:ads.example.jp
    include https://news.example.jp/ pages=1000000
    exclude re:/calendar/
    default exclude

A line is `include` or `exclude`, a pattern, and perhaps `depth=` and `pages=`; a word that begins
with `#` begins a comment. Patterns:

    *                       every URL
    *.jp                    a domain or public suffix: the name, and all names below it
    host:a.example.jp[:81]  this host, of any scheme; with a port only that port
    http://a.jp/dir/        a URL prefix
    re:EXPRESSION           RE2, found anywhere in the canonical URL
    language:ja             URLs that a page in this language links to (ISO 639-1, or `und`)
    country:JP              hosts with an address in this country (ISO 3166-1)

`default` stands last. Without it a list that includes something excludes all else, and one that
only excludes includes all else.
Invariant: the texts of all rules are canonical (names in ASCII and lower case, without a dot at
the end), so that they are compared with canonical URLs byte by byte.
"""

from __future__ import annotations

from typing import Any, Final, Literal

from shared.crawl_scope.codes import COUNTRIES, LANGUAGES, language_code
from shared.errors import LineError, UrlError
from shared.frozen import frozen
from shared.urls import canonical, split_host

__all__ = [
    "LINES_MOST",
    "TEXT_MOST",
    "RuleKind",
    "ScopeRule",
    "compiled",
    "read_rules",
    "with_default",
]

RuleKind = Literal[
    "all", "domain", "host", "prefix", "expression", "language", "country", "default"
]

TEXT_MOST: Final = 64_000
"""Bytes of a list: a sync carries it."""

LINES_MOST: Final = 2_000
LINE_MOST: Final = 1_000
EXPRESSIONS_MOST: Final = 200
"""Each costs every URL a search, which domains, hosts and prefixes do not."""

EXPRESSION_MEMORY: Final = 1 << 20
"""Bytes that RE2 may use for one expression; its programs are refused beyond it."""

DEPTH_MOST: Final = 1_000
PAGES_MOST: Final = 1_000_000_000


@frozen
class ScopeRule:
    """One rule. line: its number in the list, from 1; 0: a default that was not written.

    text: a domain, `name` or `name:port`, a URL prefix, an expression, or a code, by its kind.
    depth, pages: limits for the URLs that it includes; None: those of each site.
    """

    line: int
    includes: bool
    kind: RuleKind
    text: str = ""
    depth: int | None = None
    pages: int | None = None

    def __str__(self) -> str:
        """Return the rule as a line."""
        action = "include" if self.includes else "exclude"
        pattern = {
            "all": "*",
            "domain": f"*.{self.text}",
            "host": f"host:{self.text}",
            "prefix": self.text,
            "expression": f"re:{self.text}",
            "language": f"language:{self.text}",
            "country": f"country:{self.text}",
            "default": "",
        }[self.kind]
        limits = [
            f"{name}={value}"
            for name, value in (("depth", self.depth), ("pages", self.pages))
            if value is not None
        ]
        words = ["default", action] if self.kind == "default" else [action, pattern]
        return " ".join([*words, *limits])


def read_rules(text: str, *, known_only: bool = False) -> tuple[tuple[ScopeRule, ...], ScopeRule]:
    """Return the rules of a list in their order, and its default.

    known_only: pass over lines that this version does not understand, as an agent does with the
    list of a newer manager. Raises LineError with the first line that is no rule.
    """
    rules: list[ScopeRule] = []
    default: ScopeRule | None = None
    unknown_includes = False
    size = len(text.encode("utf-8", "surrogatepass"))
    if size > TEXT_MOST:
        raise LineError(1, "scope.list_too_large", size=size, most=TEXT_MOST)
    for number, line in enumerate(text.split("\n"), 1):
        words = _words(line)
        if not words:
            continue
        try:
            rule = _rule(number, words, line.strip(), default)
        except LineError:
            if known_only:
                unknown_includes |= words[0] == "include"
                continue
            raise
        if words[0] == "default":
            default = rule
        else:
            rules.append(rule)
    _check_counts(rules)
    if default is None:
        excludes_rest = unknown_includes or any(rule.includes for rule in rules)
        default = ScopeRule(0, not excludes_rest, "default")
    return tuple(rules), default


def with_default(text: str) -> str:
    """Return a list with its default written, where agents may not know all kinds of its rules.

    An earlier release passes over those, and would choose another default without them.
    """
    rules, default = read_rules(text)
    if default.line or not any(rule.kind in ("language", "country") for rule in rules):
        return text
    longer = f"{text.rstrip()}\n{default}\n"
    return longer if len(longer.encode()) <= TEXT_MOST else text


def _check_counts(rules: list[ScopeRule]) -> None:
    if len(rules) > LINES_MOST:
        line = rules[LINES_MOST].line
        raise LineError(line, "scope.too_many_rules", rules=len(rules), most=LINES_MOST)
    expressions = [rule for rule in rules if rule.kind == "expression"]
    if len(expressions) > EXPRESSIONS_MOST:
        raise LineError(
            expressions[EXPRESSIONS_MOST].line,
            "scope.too_many_expressions",
            expressions=len(expressions),
            most=EXPRESSIONS_MOST,
        )


def _words(line: str) -> list[str]:
    words = line.split()
    cut = next((place for place, word in enumerate(words) if word.startswith("#")), len(words))
    return words[:cut]


def _rule(number: int, words: list[str], line: str, default: ScopeRule | None) -> ScopeRule:
    if default is not None:
        raise LineError(number, "scope.after_default", default=default.line)
    if len(line) > LINE_MOST:
        raise LineError(number, "scope.line_too_long", length=len(line), most=LINE_MOST)
    if words[0] == "default":
        if len(words) < 2 or words[1] not in ("include", "exclude"):
            raise LineError(number, "scope.not_a_default", text=_shown(line))
        depth, pages = _limits(number, words[2:], includes=words[1] == "include")
        return ScopeRule(number, words[1] == "include", "default", "", depth, pages)
    if words[0] not in ("include", "exclude"):
        raise LineError(number, "scope.not_an_action", text=_shown(words[0]))
    if len(words) < 2:
        raise LineError(number, "scope.no_pattern", text=_shown(line))
    includes = words[0] == "include"
    kind, text = _pattern(number, words[1])
    depth, pages = _limits(number, words[2:], includes=includes)
    return ScopeRule(number, includes, kind, text, depth, pages)


def _pattern(number: int, word: str) -> tuple[RuleKind, str]:
    if word == "*":
        return "all", ""
    if word.startswith("*."):
        return "domain", _name(number, word[2:], word)
    if word.startswith("host:"):
        return "host", _host(number, word)
    if word.startswith("re:"):
        compiled(number, word[3:])
        return "expression", word[3:]
    if word.startswith("language:"):
        return "language", _language(number, word)
    if word.startswith("country:"):
        return "country", _country(number, word)
    if "://" in word:
        try:
            return "prefix", canonical(word)
        except UrlError as error:
            raise LineError(
                number, "scope.not_a_prefix", text=_shown(word), why=error.message
            ) from error
    raise LineError(number, "scope.not_a_pattern", text=_shown(word))


def _language(number: int, word: str) -> str:
    code = word.removeprefix("language:").lower()
    if code not in LANGUAGES:
        raise LineError(number, "scope.not_a_language", text=_shown(word))
    return language_code(code)


def _country(number: int, word: str) -> str:
    code = word.removeprefix("country:").upper()
    if code not in COUNTRIES:
        raise LineError(number, "scope.not_a_country", text=_shown(word))
    return code


def _host(number: int, word: str) -> str:
    name = word.removeprefix("host:")
    bare, colon, port = name.rpartition(":")
    if not colon or not port.isascii() or not port.isdecimal():
        return _name(number, name, word)
    if not 0 < int(port[:6]) < 65_536 or len(port) > 5:
        raise LineError(number, "scope.not_a_port", text=_shown(word), port=port[:20])
    return f"{_name(number, bare, word)}:{int(port)}"


def _name(number: int, name: str, word: str) -> str:
    """Return a host name or domain in canonical form."""
    if not set(name) & set("/?#@\\*:") or (name.startswith("[") and name.endswith("]")):
        try:
            return split_host(canonical(f"http://{name}/"))[1]
        except UrlError as error:
            raise LineError(number, "scope.not_a_name", text=_shown(word)) from error
    raise LineError(number, "scope.not_a_name", text=_shown(word))


def _limits(number: int, words: list[str], *, includes: bool) -> tuple[int | None, int | None]:
    found: dict[str, int] = {}
    for word in words:
        name, _, value = word.partition("=")
        if name not in ("depth", "pages") or name in found:
            raise LineError(number, "scope.not_a_limit", text=_shown(word))
        least, most = (0, DEPTH_MOST) if name == "depth" else (1, PAGES_MOST)
        digits = value.isascii() and value.isdecimal() and len(value) < 12
        if not digits or not least <= int(value) <= most:
            raise LineError(
                number, "scope.limit_range", name=name, value=_shown(value), least=least, most=most
            )
        if not includes:
            raise LineError(number, "scope.limit_of_exclude", text=_shown(word))
        found[name] = int(value)
    return found.get("depth"), found.get("pages")


def compiled(number: int, expression: str) -> Any:
    """Return an expression, ready to search. Raises LineError: it is no RE2, or is empty."""
    import re2  # noqa: PLC0415  # agents start without it

    if not expression:
        raise LineError(number, "scope.no_pattern", text="re:")
    options = re2.Options()
    options.log_errors = False
    options.max_mem = EXPRESSION_MEMORY
    try:
        return re2.compile(expression, options)
    except (re2.error, UnicodeError) as error:
        said = error.args[0] if error.args else ""
        words = said.decode("utf-8", "replace") if isinstance(said, bytes) else str(said)
        raise LineError(
            number, "scope.not_re2", text=_shown(expression), problem=words[:200]
        ) from error


def _shown(text: str) -> str:
    return ascii(text[:80])[1:-1]
