"""The robots.txt matcher: verdicts of others, and the rules that are ours."""

from __future__ import annotations

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.modules.robots import robots_parser
from agent.modules.robots.robots_parser import (
    MAX_BYTES,
    MAX_WILDCARDS,
    check_product_token,
    directives,
    parse,
    parse_in_portions,
)
from shared.errors import SettingError
from shared.urls import canonical
from tests.fixtures_dir import FIXTURES

GOOGLE = FIXTURES / "robots-google" / "robots_test_cases.json"
RFC = FIXTURES / "robots-rfc9309" / "rfc9309_cases.json"

# Google's parser leaves the URL as it is and compares escapes as they are written. RFC 9309, 2.2.2
# wants both sides in one form: raw Unicode escaped, escaped letters raw.
OVERRULED_BY_THE_RFC = {
    ("Allow: /foo/bar/%62%61%7A\n", "http://foo.bar/foo/bar/baz"),
    ("Allow: /foo/bar/ツ\n", "http://foo.bar/foo/bar/ツ"),
    ("Allow: /foo/bar/%E3%83%84\n", "http://foo.bar/foo/bar/ツ"),
}


def google(kind: str) -> list[dict[str, object]]:
    if not GOOGLE.exists():
        return []
    rows: list[dict[str, object]] = json.loads(GOOGLE.read_text())[kind]
    return rows


def rfc() -> list[dict[str, object]]:
    if not RFC.exists():
        return []
    rows: list[dict[str, object]] = json.loads(RFC.read_text())["cases"]
    return rows


def path_of(url: str) -> str:
    """The path as the crawl hands it over: of the canonical URL."""
    text = canonical(url)
    return text[text.index("/", text.index("//") + 2) :]


def verdict(robots: str, agent: str, url: str) -> bool:
    return parse(robots.encode(), agent).allowed(path_of(url)).allowed


@pytest.mark.parametrize("row", [r for r in google("allow_cases") if not r["google_specific"]])
def test_agrees_with_googles_parser(row: dict[str, object]) -> None:
    """Google's verdicts that follow from the standard are ours."""
    robots, url = str(row["robotstxt"]), str(row["url"])
    overruled = any(line in robots and u == url for line, u in OVERRULED_BY_THE_RFC)
    assert verdict(robots, str(row["useragent"]), url) is (bool(row["allowed"]) ^ overruled)


@pytest.mark.parametrize("row", rfc())
def test_agrees_with_the_examples_of_the_rfc(row: dict[str, object]) -> None:
    """The examples of RFC 9309 come out as it says."""
    assert verdict(str(row["robotstxt"]), str(row["useragent"]), str(row["url"])) is row["allowed"]


@pytest.mark.parametrize("row", google("parse_counts"))
def test_finds_the_lines_whatever_ends_and_begins_them(row: dict[str, object]) -> None:
    """Line ends of all systems and whole or torn byte order marks do not hide a line."""
    body = bytes.fromhex(str(row["robotstxt_hex"]))
    assert len(list(directives(body))) == row["valid_directives"]


@pytest.mark.parametrize("row", [r for r in google("path_extraction") if "://" in str(r["url"])])
def test_paths_are_those_of_googles_parser(row: dict[str, object]) -> None:
    """What is matched is the path with parameters and query, without the fragment.

    Rows without a scheme are no URLs here: only canonical ones come to be matched.
    """
    assert path_of(str(row["url"])) == row["path_params_query"]


@pytest.mark.parametrize(
    "row", [r for r in google("pattern_escape") if "//" not in str(r["pattern"])]
)
def test_patterns_are_escaped_as_in_googles_parser(row: dict[str, object]) -> None:
    """A rule with raw text and one with its escapes are the same; escapes have large letters."""
    for written in (row["pattern"], row["escaped"]):
        text = str(written)
        rules = parse(f"User-agent: *\nDisallow: {text}".encode(), "prsm")
        path = str(row["escaped"])
        assert not rules.allowed(path if path.startswith("/") else "/" + path).allowed


@pytest.mark.parametrize("row", google("useragent_token_validity"))
def test_refuses_a_token_that_no_robots_txt_can_name(row: dict[str, object]) -> None:
    """A product token has letters, hyphens and underscores only."""
    if row["valid"]:
        assert check_product_token(str(row["token"])) == row["token"]
    else:
        with pytest.raises(SettingError):
            check_product_token(str(row["token"]))


def test_merges_the_groups_of_one_robot() -> None:
    """Two groups for one robot are one, wherever they stand."""
    rules = parse(
        b"User-agent: prsm\nDisallow: /a\nUser-agent: x\nDisallow: /\n"
        b"User-agent: PRSM/2\nDisallow: /b\nCrawl-delay: 7",
        "prsm",
    )
    assert not rules.allowed("/a").allowed
    assert not rules.allowed("/b").allowed
    assert rules.allowed("/c").allowed
    assert rules.crawl_delay_s == 7


def test_an_own_empty_group_sets_us_free() -> None:
    """A group that names us and forbids nothing counts before the group for all."""
    rules = parse(
        b"User-agent: *\nDisallow: /\nCrawl-delay: 9\n\nUser-agent: prsm\nDisallow:\n", "prsm"
    )
    assert rules.allowed("/").allowed
    assert rules.crawl_delay_s is None


def test_strict_obeys_every_disallow() -> None:
    """In strict mode what is forbidden to anybody is forbidden to us, and Allow is no help."""
    body = b"User-agent: BadBot\nDisallow: /x\nCrawl-delay: 30\n\nUser-agent: *\nAllow: /x/open\n"
    assert parse(body, "prsm").allowed("/x/y").allowed
    strict = parse(body, "prsm", strict=True)
    assert strict.allowed("/x/open").rule == "Disallow: /x"
    assert strict.crawl_delay_s == 30


def test_says_which_rule_decided() -> None:
    """The verdict names the line, as written."""
    rules = parse(b"user-agent: *\ndisallow: /%7Ejoe/ # private", "prsm")
    assert rules.allowed("/~joe/diary").rule == "Disallow: /%7Ejoe/"
    assert rules.allowed("/").rule is None


@pytest.mark.parametrize(
    ("rule", "path", "allowed"),
    [
        ("/a*b*c$", "/axxbxxc", False),
        ("/a*b*c$", "/axxbxxcd", True),
        ("/a*b*c$", "/abcbc", False),
        ("/*.php$", "/x.php?y", True),
        ("/x$", "/x", False),
        ("/x$", "/xy", True),
        ("*/cal", "/deep/cal/2026", False),
        ("/price-$-list", "/price-$-list", False),
        ("/price-%24-list", "/price-$-list", False),
        ("/a*$", "/abc", False),
        ("/q?x='1'", "/q?x=%271%27", False),
        ("/sp ace", "/sp%20ace", False),
        ("cgi-bin/", "/cgi-bin/x", False),
        ("", "/x", True),
        ("/", "/robots.txt", True),
    ],
)
def test_wildcards_anchors_and_escapes(rule: str, path: str, allowed: bool) -> None:
    """`*` is any text, a last `$` is the end, and escapes are compared in one form."""
    assert parse(f"User-agent: *\nDisallow: {rule}".encode(), "prsm").allowed(path).allowed is (
        allowed
    )


def test_lists_sitemaps_wherever_they_stand() -> None:
    """A sitemap belongs to no group and ends none."""
    body = b"Sitemap: http://a.example/1.xml\nUser-agent: x\nSITEMAP : /2.xml\nDisallow: /"
    assert parse(body, "prsm").sitemaps == ("http://a.example/1.xml", "/2.xml")


def test_reads_at_most_500_kib_and_no_half_line() -> None:
    """What stands behind the limit is not read, nor the line that it cuts."""
    head = b"User-agent: *\n"
    long = b"Disallow: /" + b"x" * 100 + b"\n"
    body = head + b"#" * (MAX_BYTES - len(head) - 41) + b"\n" + long + b"Disallow: /\n"
    assert parse(body, "prsm").allowed("/" + "x" * 100).allowed


@pytest.mark.parametrize("delay", ["-1", "nan", "inf", "1e9", "", "soon"])
def test_a_delay_that_is_no_number_is_none(delay: str) -> None:
    """Only plain numbers delay us."""
    assert parse(f"User-agent: *\nCrawl-delay: {delay}".encode(), "prsm").crawl_delay_s is None


@pytest.mark.parametrize(
    ("delay", "seconds"),
    [
        *(("5.", 5.0), (".5", 0.5), ("1,5", 1.5), ("10s", 10.0), ("10 Seconds", 10.0)),
        *(("+7", 7.0), ("99999999999", 999_999_999.0), ("3 # s", 3.0)),
    ],
)
def test_a_delay_as_people_write_it_counts(delay: str, seconds: float) -> None:
    """The gentler side: with its unit, a comma, a sign, or more digits than anybody waits."""
    said = parse(f"User-agent: *\nCrawl-delay: {delay}".encode(), "prsm")
    assert said.crawl_delay_s == seconds


@pytest.mark.parametrize("codec", ["utf-32", "utf-16", "utf-16-le", "utf-16-be", "utf-8-sig"])
def test_wide_texts_are_read(codec: str) -> None:
    """As a few editors save them."""
    assert not parse("User-agent: *\nDisallow: /x\n".encode(codec), "prsm").allowed("/x").allowed


def test_a_no_break_space_is_a_space() -> None:
    """Rules that were copied from a page hold such spaces."""
    rules = parse("\u00a0User-agent:\u00a0*\n\u00a0\u00a0Disallow:\u00a0/x\n".encode(), "prsm")
    assert not rules.allowed("/x/y").allowed


@given(st.binary(max_size=2000), st.text(alphabet="/ab%2A*$?=", max_size=50))
def test_any_bytes_are_a_robots_txt(body: bytes, path: str) -> None:
    """No content makes the parser or the matcher fail."""
    parse(b"user-agent: *\n" + body, "prsm").allowed("/" + path)


@given(st.lists(st.sampled_from(["Disallow: /%C3%A4/%7Ex", "Allow: /\xe4*a**b$", "#", "", "a a"])))
def test_in_portions_it_is_read_as_in_one_piece(lines: list[str]) -> None:
    """Wherever the breaks fall, in an escape too, the rules are the same."""
    body = "\n".join(["User-agent: *", *lines]).encode()
    whole = parse(body, "prsm")
    for portion in (4, 5, 6):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(robots_parser, "PORTION", portion)
            assert len(list(parse_in_portions(body, "prsm"))) >= len(lines)
            assert parse(body, "prsm") == whole


@pytest.mark.parametrize(
    "line", [b"\n", b"Allow:/\n", b"Disallow: /\xe4%7E\n", b"\xe4", b"%7e", b"*", b"*a"]
)
def test_a_long_one_has_many_breaks(line: bytes) -> None:
    """Whatever 500 KiB are full of, no portion is more than a small part of them."""
    body = b"User-agent: *\nDisallow: /" + line * (MAX_BYTES // len(line))
    pieces = len(line) if line == b"*" else MAX_BYTES // robots_parser.PORTION
    assert len(list(parse_in_portions(body[:MAX_BYTES], "prsm"))) >= pieces


@given(
    st.lists(
        st.tuples(st.booleans(), st.text(alphabet="ab*$/", min_size=1, max_size=8)), max_size=8
    ),
    st.text(alphabet="ab/", max_size=12),
)
def test_the_longest_match_decides(lines: list[tuple[bool, str]], rest: str) -> None:
    """Indexing the rules changes no verdict: a plain search through all of them agrees."""
    path = "/" + rest
    body = "User-agent: *\n" + "".join(
        f"{'Allow' if allow else 'Disallow'}: /{pattern}\n" for allow, pattern in lines
    )
    matching = [(-1, True)]
    for allow, text in lines:
        pattern = "/" + text
        end = "$" if pattern.endswith("$") else ""
        inner = pattern.removesuffix("$")
        regex = ".*".join(re.escape(piece) for piece in inner.split("*")) + end
        octets = len(inner.replace("$", "%24")) + len(end)
        if re.match(regex, path):
            matching.append((octets, allow))
    assert parse(body.encode(), "prsm").allowed(path).allowed is max(matching)[1]


@pytest.mark.timeout(60)
def test_a_hostile_file_costs_one_search_a_rule() -> None:
    """A rule of two hundred thousand stars does not take a power of their number."""
    body = b"User-agent: *\n" + b"Disallow: /" + b"*a" * 200_000 + b"b$\n"
    assert parse(body, "prsm").allowed("/" + "a" * 2000).allowed


@pytest.mark.timeout(60)
@pytest.mark.parametrize("name", ["prsm", "*"])
def test_a_group_that_is_named_very_often_is_one_group(name: str) -> None:
    """Thousands of user-agent lines and thousands of rules below them do not multiply."""
    body = f"User-agent: {name}\n" * 17_000 + "Disallow: /b\n" * 17_000
    rules = parse(body.encode(), "prsm")
    assert not rules.allowed("/b").allowed
    assert rules.allowed("/a").allowed


@pytest.mark.timeout(60)
def test_of_very_many_wildcards_the_last_hold_for_more() -> None:
    """Beyond a thousand, a Disallow covers all that it begins with, and an Allow nothing."""
    body = "User-agent: *\n" + "".join(f"Disallow: /x/*{n}$\n" for n in range(MAX_WILDCARDS))
    rules = parse(body.encode(), "prsm")
    assert not rules.allowed("/x/page7").allowed
    assert rules.allowed("/x/page").allowed
    rules = parse((body + "Allow: /y/*ok\nDisallow: /y/*z\n").encode(), "prsm")
    assert rules.allowed("/x/page").allowed
    assert rules.allowed("/y/page").rule == "Disallow: /y/*z"
    assert not rules.allowed("/y/ok").allowed
    assert rules.allowed("/elsewhere").allowed


@pytest.mark.parametrize("codec", ["utf-16-le", "utf-16-be"])
@pytest.mark.parametrize("mark", ["\ufeff", ""])
def test_a_robots_txt_in_utf16_is_read(codec: str, mark: str) -> None:
    """An editor wrote it so; its rules are meant all the same, and to read them is gentler."""
    text = f"{mark}User-agent: *\r\nDisallow: /private\r\nSitemap: /日.xml\r\n"
    rules = parse(text.encode(codec), "PRS")
    assert not rules.allowed("/private/x").allowed
    assert rules.allowed("/open").allowed
    assert rules.sitemaps == ("/%E6%97%A5.xml",)


def test_each_byte_of_a_sitemap_is_escaped_as_it_is() -> None:
    """Whatever encoding its server has paths in."""
    assert parse(b"Sitemap: http://a.example/\xa4\xa2.xml", "PRS").sitemaps == (
        "http://a.example/%A4%A2.xml",
    )


@pytest.mark.parametrize(
    "before",
    [
        b"\xc3\xaf\xc2\xbb\xc2\xbf",
        b"\x00\x00",
        b"? ",
        b"\xef\xbb\xbf\xef\xbb\xbf",
        b"\xc2\xa0",
        b"???",
    ],
)
def test_what_stands_before_the_first_line_loses_no_rule(before: bytes) -> None:
    """A byte order mark that was written twice, or that became something else."""
    rules = parse(before + b"User-agent: *\nDisallow: /x\n", "PRSM")
    assert not rules.allowed("/x/y").allowed
    assert rules.allowed("/").allowed
