"""Scope of the crawl: rules by which hosts, units and URLs are inside or outside.

A new version reaches agents with their next sync; here each unit is opened or closed by it, in
batches that the tick repeats until all are. A unit outside is closed like an excluded one, but its
captures stay, and it opens again with a wider scope. See ADR 202.
Invariant: a unit is outside by the version in force only if no URL in it can be inside.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Final

from manager.db.engine import Database, Transaction
from manager.db.hosts import crawl_scopes, host_countries, hosts
from manager.db.hosts.crawl_scopes import ScopedUnit
from manager.db.ownership import assignments, rights
from manager.db.planning import probes
from manager.db.rounds import round_units, rounds
from manager.errors import ConflictError
from manager.message_fields import message_fields
from manager.operations.actor import Actor, note
from manager.operations.hosts.found_urls import FoundUrl
from shared.crawl_scope.codes import LANGUAGES, UNDETERMINED, language_code
from shared.crawl_scope.evaluation import EVERYTHING, ScopeRules
from shared.crawl_scope.rules import ScopeRule
from shared.errors import FormatError, LineError, about_field
from shared.frozen import frozen
from shared.messages import Message
from shared.urls import canonical, host_key

__all__ = [
    "ScopeChange",
    "ScopeShown",
    "ScopeTried",
    "apply_scope",
    "close_outside",
    "deciding_rule",
    "preview_scope",
    "rules_in_force",
    "scope_of_crawl",
    "set_scope",
    "settle_units",
    "try_scope",
    "urls_inside",
]

BATCH: Final = 2_000
BATCHES_AT_ONCE: Final = 25
EXAMPLES: Final = 10
REASON_MOST: Final = 500


@message_fields
@frozen
class CountriesShown:
    """The database of countries. file: its name. problem: why it cannot be read; None: it can.

    is_applied: whether all hosts were looked up in it.
    """

    file: str
    kind: str
    built_ms: int | None
    problem: Message | None
    is_applied: bool


@frozen
class ScopeShown:
    """The scope in force. version: 0: none was ever set, and all is inside.

    default: the rule for URLs that no other matches. outside: units that are closed. is_applied:
    whether each unit was opened or closed by this version. countries: None: no file is set.
    """

    version: int
    text: str
    default: str
    reason: str
    set_by: str
    set_ms: int | None
    outside: int
    is_applied: bool
    countries: CountriesShown | None


@frozen
class ScopeChange:
    """Effect of other rules on the units that are known. hosts: those that are one unit, or `/`."""

    rules: int
    default: str
    closed_hosts: int
    closed_units: int
    closed_examples: list[str]
    opened_hosts: int
    opened_units: int
    opened_examples: list[str]


@frozen
class ScopeTried:
    """Decision about a URL. line: of the rule, 0: the default that is not written.

    is_host_inside: whether the host is crawled, because of this URL or others of it. language: of
    the page that links to it, "": not given. countries: of the host's addresses, None: not known.
    depends_on: what could decide otherwise if it were known: `language`, `country`.
    """

    url: str
    is_inside: bool
    rule: str
    line: int
    depth: int | None
    pages: int | None
    is_host_inside: bool
    language: str
    countries: list[str] | None
    depends_on: list[str]


def scope_of_crawl(db: Database) -> ScopeShown:
    """Return the scope in force."""
    with db.read() as tx:
        row = crawl_scopes.scope_in_force(tx)
        outside = crawl_scopes.outside_count(tx)
        countries = _countries_shown(tx)
    if row is None:
        return ScopeShown(0, "", str(EVERYTHING.default), "", "", None, outside, True, countries)
    rules = _rules_of(row.rules)
    return ScopeShown(
        version=row.id,
        text=row.rules,
        default=str(rules.default),
        reason=row.reason,
        set_by=row.set_by,
        set_ms=row.set_ms,
        outside=outside,
        is_applied=row.applied_ms is not None,
        countries=countries,
    )


def _countries_shown(tx: Transaction) -> CountriesShown | None:
    row = host_countries.file_in_use(tx)
    if row is None:
        return None
    return CountriesShown(
        file=row.path.rpartition("/")[2],
        kind=row.kind,
        built_ms=row.built_ms,
        problem=row.problem,
        is_applied=row.passed_ms is not None,
    )


def preview_scope(db: Database, text: str) -> ScopeChange:
    """Return which units other rules would close and open; nothing changes. Raises LineError."""
    rules = _read(db, text)
    counts = {"closed_hosts": 0, "closed_units": 0, "opened_hosts": 0, "opened_units": 0}
    examples: dict[str, list[str]] = {"closed": [], "opened": []}
    after = 0
    while True:
        with db.read() as tx:
            part = crawl_scopes.units_after(tx, after, BATCH)
        closed, opened = _changes(rules, part)
        for name, some in (("closed", closed), ("opened", opened)):
            counts[f"{name}_units"] += len(some)
            counts[f"{name}_hosts"] += sum(unit.path == "/" for unit in some)
            examples[name] += [unit.key for unit in some[: EXAMPLES - len(examples[name])]]
        if len(part) < BATCH:
            break
        after = part[-1].id
    return ScopeChange(
        rules=len(rules.rules),
        default=str(rules.default),
        closed_examples=examples["closed"],
        opened_examples=examples["opened"],
        **counts,
    )


def set_scope(
    db: Database,
    text: str,
    reason: str,
    actor: Actor,
    now_ms: int,
    shown: int | None = None,
) -> int:
    """Put other rules in force; return their version. Agents receive them with their next sync.

    shown: the version that the person saw. Raises LineError (a line is no rule; nothing changes),
    FormatError, ConflictError (another version is in force).
    """
    rules = _read(db, text)
    if len(reason) > REASON_MOST:
        too_long = FormatError("general.reason_too_long", length=len(reason), most=REASON_MOST)
        raise too_long.about("reason")
    with db.write() as tx:
        before = crawl_scopes.scope_in_force(tx)
        version = 0 if before is None else before.id
        if shown is not None and shown != version:
            raise ConflictError("scope.changed", version=version).about("text")
        if text == ("" if before is None else before.rules):
            return version
        version = crawl_scopes.add_version(tx, text, reason.strip(), actor.name, now_ms)
        note(tx, now_ms, actor, "scope.set", "", version=version, rules=len(rules.rules),
             default=str(rules.default), reason=reason.strip())  # fmt: skip
    apply_scope(db, now_ms)
    return version


def try_scope(db: Database, text: str, language: str = "") -> ScopeTried:
    """Return what the rules in force decide about a URL or a host.

    language: of the page that links to it; "": not known. Raises UrlError, FormatError for a
    language that is none.
    """
    code = language.strip().lower()
    if code and code not in LANGUAGES:
        raise FormatError("scope.language_unknown", text=ascii(language[:80])[1:-1]).about(
            "language"
        )
    code = language_code(code)
    url = canonical(text.strip() if "://" in text else f"http://{text.strip()}")
    host = url[: url.index("/", 8) + 1]
    with db.read() as tx:
        rules = rules_in_force(tx)
        row = hosts.by_key(tx, host_key(url))
        found = None if row is None else host_countries.hosts_among(tx, [row.id])[0].countries
    countries = None if found is None else found.split()
    rule = rules.decide(url, code, countries).rule
    return ScopeTried(
        url=url,
        is_inside=rule.includes,
        rule=str(rule),
        line=rule.line,
        depth=rule.depth,
        pages=rule.pages,
        is_host_inside=rules.decide_unit(host, countries).is_inside,
        language=code,
        countries=countries,
        depends_on=_open_conditions(rules, url, code, countries, rule),
    )


def _open_conditions(
    rules: ScopeRules, url: str, language: str, countries: Sequence[str] | None, rule: ScopeRule
) -> list[str]:
    """Return what is not known of a URL and could bring another rule to decide."""
    found = []
    named = {one.text for one in rules.rules if one.kind == "language"} | {UNDETERMINED}
    if not language and any(rules.decide(url, code, countries).rule != rule for code in named):
        found.append("language")
    named = {one.text for one in rules.rules if one.kind == "country"}
    if countries is None and any(
        rules.decide(url, language, codes).rule != rule for codes in [(), *([one] for one in named)]
    ):
        found.append("country")
    return found


def rules_in_force(tx: Transaction) -> ScopeRules:
    """Return the rules of the newest version."""
    row = crawl_scopes.scope_in_force(tx)
    return EVERYTHING if row is None else _rules_of(row.rules)


def deciding_rule(rules: ScopeRules, found: FoundUrl) -> ScopeRule:
    """Return the rule by which a URL of a list is inside or outside.

    The top page of a host stands for the host, which is inside if any URL of it can be.
    """
    if found.url == found.host:
        return rules.decide_unit(found.host).rule
    return rules.decide(canonical(found.url)).rule


def urls_inside(found: Iterable[FoundUrl], rules: ScopeRules) -> Iterator[FoundUrl]:
    """Yield the URLs that are inside."""
    if rules.is_empty:
        return iter(found)
    return (one for one in found if deciding_rule(rules, one).includes)


def apply_scope(db: Database, now_ms: int, batches: int = BATCHES_AT_ONCE) -> int:
    """Open and close units by the version in force, some batches of them; return how many.

    What is left is done by later calls.
    """
    changed = 0
    for _ in range(batches):
        with db.read() as tx:
            row = crawl_scopes.scope_in_force(tx)
        if row is None or row.applied_ms is not None:
            break
        with db.write() as tx:
            row = crawl_scopes.scope_in_force(tx)
            if row is None or row.applied_ms is not None:
                break
            part = crawl_scopes.units_after(tx, row.applied_to, BATCH)
            changed += _settle(tx, _rules_of(row.rules), part, now_ms)
            is_last = len(part) < BATCH
            applied_to = part[-1].id if part else row.applied_to
            crawl_scopes.set_applied(tx, row.id, applied_to, now_ms if is_last else None)
    return changed


def close_outside(tx: Transaction, unit_ids: Sequence[int], now_ms: int) -> None:
    """Close those of some units that are outside of the scope in force."""
    rules = rules_in_force(tx)
    if not rules.is_empty:
        _settle(tx, rules, crawl_scopes.units_to_scope(tx, unit_ids), now_ms)


def settle_units(tx: Transaction, unit_ids: Sequence[int], now_ms: int) -> None:
    """Open and close units whose countries have changed."""
    rules = rules_in_force(tx)
    if rules.has_countries:
        _settle(tx, rules, crawl_scopes.units_to_scope(tx, unit_ids), now_ms)


def _settle(tx: Transaction, rules: ScopeRules, part: Sequence[ScopedUnit], now_ms: int) -> int:
    closed, opened = _changes(rules, part)
    by_rule: dict[str, list[int]] = defaultdict(list)
    for unit in closed:
        decision = rules.decide_unit(unit.key, unit.known_countries)
        by_rule[str(decision.rule)].append(unit.id)
    live = rounds.live_numbers(tx) if closed else []
    crawl_scopes.close_units(tx, by_rule)
    for rule, unit_ids in by_rule.items():
        why = Message("scope.outside", rule=rule)
        assignments.close(tx, unit_ids, now_ms, why)
        probes.fail(tx, why, unit_ids=unit_ids)
        for number in live:
            round_units.cancel_units(tx, number, why, unit_ids)
        rights.withdraw(tx, now_ms, why, unit_ids=unit_ids)
    by_state: dict[str, list[int]] = defaultdict(list)
    for unit in opened:
        if unit.excluded_ms is not None:
            by_state["excluded"].append(unit.id)
        else:
            by_state["new" if unit.group_id is None else "idle"].append(unit.id)
    crawl_scopes.reopen_units(tx, by_state, now_ms)
    return len(closed) + len(opened)


def _changes(
    rules: ScopeRules, part: Iterable[ScopedUnit]
) -> tuple[list[ScopedUnit], list[ScopedUnit]]:
    """Return the units that close, and those that open."""
    closed, opened = [], []
    for unit in part:
        is_inside = rules.is_empty or rules.decide_unit(unit.key, unit.known_countries).is_inside
        if is_inside and unit.scope_rule:
            opened.append(unit)
        elif not is_inside and unit.state != "excluded":
            closed.append(unit)
    return closed, opened


def _read(db: Database, text: str) -> ScopeRules:
    with about_field("text"):
        rules = _rules_of(text)
        if rules.has_countries:
            _check_country_file(db, rules)
        return rules


def _check_country_file(db: Database, rules: ScopeRules) -> None:
    """Refuse rules by country where no file tells countries. Raises LineError."""
    first = next(rule for rule in rules.rules if rule.kind == "country")
    shown = f"country:{first.text}"
    with db.read() as tx:
        row = host_countries.file_in_use(tx)
    if row is None:
        raise LineError(first.line, "scope.no_country_file", text=shown)
    if not row.identity:
        why = row.problem or ""
        raise LineError(first.line, "scope.bad_country_file", text=shown, path=row.path, why=why)


@lru_cache(maxsize=8)
def _rules_of(text: str) -> ScopeRules:
    return ScopeRules(text)
