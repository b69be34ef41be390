"""The first rule that matches decides, whatever the index does to find it."""

from __future__ import annotations

import pickle

import pytest
import re2
from hypothesis import given, settings
from hypothesis import strategies as st

from shared.crawl_scope.codes import language_code
from shared.crawl_scope.evaluation import EVERYTHING, ScopeRules
from shared.crawl_scope.literals import literal_of
from shared.crawl_scope.rules import TEXT_MOST, ScopeRule, read_rules, with_default
from shared.errors import LineError
from shared.urls import canonical, host_of, split_host

NAMES = ("a.jp", "b.a.jp", "c.b.a.jp", "a.com", "xn--wgv71a.jp", "ba.jp", "jp", "192.0.2.1")
PATHS = ("/", "/dir/", "/dir/x?y=1", "/dirt", "/blog/2026/", "/DIR/")
PATTERNS = (
    "*", "*.jp", "*.a.jp", "*.b.a.jp", "*.com", "*.日本.jp", "host:a.jp", "host:B.A.JP.",
    "host:a.jp:8080", "http://a.jp/dir/", "http://a.jp:80/dir/x", "https://b.a.jp/",
    "re:/blog/", "re:^https?://[^/]*a[.]jp(:[0-9]+)?/dir", "re:/$", "re:(?i)/dir/",
    "language:ja", "language:de", "language:und", "country:JP", "country:us",
)  # fmt: skip

lines = st.builds(
    lambda action, pattern: f"{action} {pattern}",
    st.sampled_from(("include", "exclude")),
    st.sampled_from(PATTERNS),
)
lists = st.builds(
    lambda some, end: "\n".join([*some, *end]),
    st.lists(lines, max_size=8),
    st.sampled_from(([], ["default include"], ["default exclude"])),
)
urls = st.builds(
    lambda scheme, name, port, path: canonical(f"{scheme}://{name}{port}{path}"),
    st.sampled_from(("http", "https")),
    st.sampled_from(NAMES),
    st.sampled_from(("", ":8080")),
    st.sampled_from(PATHS),
)


languages = st.sampled_from(("", "ja", "de", "fr", "und"))
countries = st.sampled_from((None, frozenset[str](), frozenset(("JP",)), frozenset(("US", "DE"))))


def _matches(
    rule: ScopeRule, url: str, language: str = "", found: frozenset[str] | None = None
) -> bool:
    """The meaning of a rule, as the documentation has it."""
    _, name, port = split_host(url)
    match rule.kind:
        case "language":
            return rule.text == language or (not language and rule.includes)
        case "country":
            return rule.includes if found is None else rule.text in found
        case "all":
            return True
        case "domain":
            return name == rule.text or name.endswith("." + rule.text)
        case "host":
            return rule.text in (name, f"{name}:{port}")
        case "prefix":
            return url.startswith(rule.text)
        case _:
            return re2.search(rule.text, url) is not None


@given(lists, urls, languages, countries)
@settings(max_examples=500)
def test_the_index_decides_as_a_walk_through_the_list(
    text: str, url: str, language: str, found: frozenset[str] | None
) -> None:
    """The same rule, so the same limits and reason."""
    rules, default = read_rules(text)
    expected = next((rule for rule in rules if _matches(rule, url, language, found)), default)
    assert ScopeRules(text).decide(url, language, found).rule == expected


@given(lists, st.sampled_from(NAMES), urls, languages, countries)
@settings(max_examples=500)
def test_a_unit_outside_has_no_url_inside(
    text: str, name: str, url: str, language: str, found: frozenset[str] | None
) -> None:
    """Whatever the rules: nothing that belongs to the crawl is closed with its unit."""
    rules = ScopeRules(text)
    for unit in (host_of(url), host_of(canonical(f"http://{name}/")) + "dir/"):
        outside = not url.startswith(canonical(unit))
        outside = outside or not rules.decide(url, language, found).is_inside
        assert rules.decide_unit(unit, found).is_inside or outside


@given(lists, st.sampled_from(NAMES), countries)
@settings(max_examples=300)
def test_a_piece_inside_keeps_its_host_inside(
    text: str, name: str, found: frozenset[str] | None
) -> None:
    """So the unit `/` of a split host, which stands for it, closes last."""
    rules, host = ScopeRules(text), host_of(canonical(f"http://{name}/"))
    if rules.decide_unit(host + "dir/", found).is_inside:
        assert rules.decide_unit(host, found).is_inside
    if found is not None and not rules.decide_unit(host).is_inside:
        assert not rules.decide_unit(host, found).is_inside, "less known closes no more"


@given(lists)
def test_a_list_is_read_back_from_its_rules(text: str) -> None:
    """A rule as text is the same rule; and rules travel to other processes."""
    rules, _ = read_rules(text)
    again, _ = read_rules("\n".join(map(str, rules)))
    assert list(map(str, again)) == list(map(str, rules))
    assert pickle.loads(pickle.dumps(ScopeRules(text))) == ScopeRules(text)


@given(st.text(max_size=300))
@settings(max_examples=300)
def test_any_text_is_a_list_or_has_a_faulty_line(text: str) -> None:
    """An agent takes of it what it understands."""
    try:
        ScopeRules(text)
    except LineError as error:
        assert 1 <= error.line <= text.count("\n") + 1
    ScopeRules(text, known_only=True)


def test_the_goal_of_the_source_is_one_line() -> None:
    """What a list that only includes does not name is outside; after only exclusions it is in."""
    japan = ScopeRules("include *.jp")
    assert japan.decide("http://www.example.jp/x").is_inside
    assert not japan.decide("http://www.example.com/").is_inside
    assert not japan.decide("http://jp.example.com/?x=.jp").is_inside
    assert ScopeRules("exclude *.com").decide("http://www.example.jp/").is_inside
    assert EVERYTHING.is_empty
    assert EVERYTHING.decide("http://x/").is_inside


@pytest.mark.parametrize(
    ("pattern", "url"),
    [
        ("*.日本.JP", "http://xn--wgv71a.jp/"),
        ("*.Example.JP.", "https://a.example.jp:8443/"),
        ("host:WWW.example.jp:0443", "https://www.example.jp/"),
        ("host:[2001:DB8::1]", "http://[2001:db8::1]:81/"),
        ("HTTP://Example.jp:80/%7Ea/", "http://example.jp/~a/b"),
        ("re:/a{1,3}/", "http://example.jp/aa/"),
    ],
)
def test_patterns_are_compared_in_canonical_form(pattern: str, url: str) -> None:
    """Case, dots, ports, escapes and Unicode are written as people write them."""
    assert ScopeRules(f"include {pattern}").decide(canonical(url)).is_inside


def test_user_names_in_front_of_a_host_fool_no_rule() -> None:
    """A canonical URL has none, and an `@` behind the host is a part of the path."""
    rules = ScopeRules("include *.jp")
    assert not rules.decide(canonical("http://evil.com/@www.example.jp/")).is_inside
    with pytest.raises(LineError):
        ScopeRules("include host:user@www.example.jp")


def test_limits_are_of_the_rule_that_decides() -> None:
    """A news site 1,000,000 pages, a blog 10,000."""
    rules = ScopeRules(
        "include host:news.example.jp pages=1000000\ninclude re:/blog/ pages=10000 depth=5\n"
        "include *.jp pages=500"
    )
    assert rules.decide("http://news.example.jp/blog/").rule.pages == 1_000_000
    blog = rules.decide("http://a.jp/blog/x").rule
    assert (blog.pages, blog.depth) == (10_000, 5)
    assert rules.decide_unit("http://a.jp:80/").rule.pages == 500
    assert rules.decide_unit("http://a.jp:80/blog/").rule.pages == 10_000


def test_an_expression_closes_a_unit_only_where_it_matches_all_of_it() -> None:
    """A match that a longer URL could undo closes nothing."""
    assert (
        not ScopeRules("exclude re:^https?://[^/]*casino")
        .decide_unit("http://casino.example.jp:80/")
        .is_inside
    )
    assert ScopeRules("exclude re:/$").decide_unit("http://a.jp:80/").is_inside


def test_hostile_input_costs_linear_time() -> None:
    """Expressions that take other engines years, URLs of a megabyte, programs beyond memory."""
    rules = ScopeRules("exclude re:(a+)+b$\nexclude re:(x?){200}x{200}y")
    url = "http://a.jp/" + "a" * 1_000_000
    assert rules.decide(url).is_inside
    with pytest.raises(LineError, match="line 2"):
        ScopeRules("include *\nexclude re:((a{100}){100}){100}")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("include *.jp\nallow *.com", "line 2: allow: a rule begins with"),
        ("include", "a pattern is missing"),
        ("include example.jp", "no pattern; write `[*].jp`"),
        ("include *.a/b", "no host name"),
        ("include host:a.jp:99999", "port 99999: must be"),
        ("include ftp://a.jp/", "no URL prefix"),
        ("exclude re:(", "no RE2 expression"),
        ("include * pages=0", "pages = 0: must be 1 to"),
        ("include * pages=5 pages=6", "each once"),
        ("exclude * depth=3", "limits are for `include`"),
        ("default exclude\ninclude *.jp", "line 2: .*must be the last"),
        ("default", "write `default include`"),
        ("include *.jp\nexclude language:xx1", "line 2: language:xx1: no language; write a code"),
        ("include language:", "no language"),
        ("include language:jp", "no language"),
        ("include language:ja-JP", "no language"),
        ("include language:日本語", "no language"),
        ("include country:ZZ", "country:ZZ: no country; write a code"),
        ("include country:JPN", "no country"),
        ("include *" * 500, "characters; at most"),
        ("# x\n" * 20_000, "bytes; at most"),
        ("include *.jp\n" * 2_001, "rules; at most"),
        ("exclude re:a\n" * 201, "line 201: 201 expressions"),
    ],
)
def test_a_bad_line_is_named_with_its_remedy(text: str, said: str) -> None:
    """And no part of the list is taken."""
    with pytest.raises(LineError, match=said):
        ScopeRules(text)


def test_an_agent_takes_what_it_knows_of_a_newer_list() -> None:
    """Lines that it does not understand match nothing."""
    rules = ScopeRules("exclude galaxy:m31\nexclude *.com\ndefault include", known_only=True)
    assert not rules.decide("http://a.com/").is_inside
    assert rules.decide("http://a.jp/").is_inside


def test_an_unknown_line_that_includes_leaves_the_default_as_it_was() -> None:
    """The kind is newer than the agent; all else was excluded there, and is here."""
    assert not ScopeRules("include galaxy:m31", known_only=True).decide("http://a.jp/").is_inside
    assert ScopeRules("exclude galaxy:m31", known_only=True).decide("http://a.jp/").is_inside


JAPANESE = "include *.jp\nexclude language:de\ninclude language:ja"


def test_language_is_of_the_page_that_links() -> None:
    """In the order of the list: a domain before it decides first; what is not known may be."""
    rules = ScopeRules(JAPANESE)
    com = "http://a.com/"
    assert [rules.decide(com, code).is_inside for code in ("ja", "de", "en", "und", "")] == [
        *(True, False, False, False, True),
    ]
    assert rules.decide("http://a.jp/", "de").is_inside
    assert rules.decide_unit("http://a.com:80/").is_inside
    assert (rules.has_languages, rules.has_countries) == (True, False)
    assert not ScopeRules("exclude language:de\ninclude *").decide(com, "de").is_inside


def test_country_is_of_the_hosts_addresses() -> None:
    """A host is outside once its addresses are known to be elsewhere; each of them counts."""
    rules = ScopeRules("exclude country:US\ninclude country:JP")
    unit = "http://a.com:80/"
    assert rules.decide_unit(unit, None).is_inside
    assert rules.decide_unit(unit, ("JP",)).is_inside
    assert not rules.decide_unit(unit, ("JP", "US")).is_inside
    assert not rules.decide_unit(unit, ()).is_inside
    assert str(rules.decide_unit(unit, ()).rule) == "default exclude"


@pytest.mark.parametrize(
    ("written", "read"),
    [("ja-JP", "ja"), ("JPN", "ja"), ("jp", "ja"), ("nb_NO", "no"), ("und", "und"), ("x-y", "")],
)
def test_languages_are_read_as_pages_write_them(written: str, read: str) -> None:
    """With a region, as three letters, or as a country that is meant for its language."""
    assert language_code(written) == read


def test_agents_are_told_the_default_beside_kinds_that_they_may_not_know() -> None:
    """Without the line an earlier release would take in all else."""
    assert with_default("include language:ja\n") == "include language:ja\ndefault exclude\n"
    assert with_default("exclude country:US") == "exclude country:US\ndefault include\n"
    for text in ("include *.jp", "", "include language:ja\ndefault include"):
        assert with_default(text) == text
    full = "include language:ja\n" + "#" * (TEXT_MOST - 21) + "\n"
    assert with_default(full) == full


PARTS = ("/a", "b", ".", "[0-9]", "\\.", "\\/", "(c|d)", "(e)", "?", "*", "+", "{0,2}", "|",
         "^", "$", "(?i)", "[(]", "[]|]", "[^]a]", "(a[)]", ")", "\\(",
         "\\Q", "\\d", "日")  # fmt: skip


@given(st.lists(st.sampled_from(PARTS), max_size=6), st.text("/ab.0cde日Q", max_size=12))
@settings(max_examples=1000)
def test_every_match_holds_the_text_that_the_expression_begins_with(
    parts: list[str], text: str
) -> None:
    """So no search is left out that would have matched."""
    expression = "".join(parts)
    options = re2.Options()
    options.log_errors = False
    try:
        found = re2.compile(expression, options).search(text)
    except re2.error:
        return
    if found is not None:
        assert literal_of(expression) in text


@pytest.mark.parametrize(
    ("expression", "literal"),
    [
        ("/calendar/", "/calendar/"),
        ("^https?://", "http"),
        (r"\.pdf$", ".pdf"),
        ("/a/b*", "/a/"),
        ("/a+", "/a"),
        ("(?i)/blog/", ""),
        ("/a|/b", ""),
        ("/a(b|c)", "/a"),
        ("/a[|]b", "/a"),
        ("/a[(]|b", ""),
        ("/a[[:alpha:](]|b", ""),
        ("[?&]sid=", ""),
    ],
)
def test_expressions_mostly_begin_with_text(expression: str, literal: str) -> None:
    """What may be missing from a match is no part of it."""
    assert literal_of(expression) == literal
