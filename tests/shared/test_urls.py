"""The canonical form and its keys."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.errors import Fault, UrlError
from shared.urls import (
    REFUSED_PORTS,
    canonical,
    crawlable,
    has_refused_port,
    host_key,
    host_of,
    name_and_port,
    reversed_host_key,
)
from tests.fixtures_dir import fixture_folder

URL_CHARACTERS = st.text(alphabet="abAB01%.-_~/?#&=:@[]é日 \t\\2fEe5", max_size=40)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("HTTP://WWW.Example.JP:80/a/../b", "http://www.example.jp/b"),
        ("http://a.jp", "http://a.jp/"),
        ("http://a.jp/x#part", "http://a.jp/x"),
        ("http://a.jp/?q#", "http://a.jp/?q"),
        ("http://a.jp/%7euser/%2fx%e3", "http://a.jp/~user/%2Fx%E3"),
        ("http://a.jp/?b=2&a=1", "http://a.jp/?b=2&a=1"),
        ("http://a.jp/%2%45%2%45/x", "http://a.jp/x"),
        ("http://例え.jp/", "http://xn--r8jz45g.jp/"),
        ("https://a.jp:8443/", "https://a.jp:8443/"),
        ("http://0x7f.1/", "http://127.0.0.1/"),
    ],
)
def test_canonical_form(text: str, expected: str) -> None:
    """Spellings of one page have one form; the query keeps its order."""
    assert canonical(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "",
        "//a/b",
        "ftp://a/",
        "javascript:alert(1)",
        "http://",
        "http://u@a/",
        "http://a b/",
        "x",
        "http://" + "a" * 254 + "/",
    ],
)
def test_what_is_no_url_to_crawl(text: str) -> None:
    """A text that cannot be fetched is refused with a message that shows it."""
    with pytest.raises(UrlError):
        canonical(text)


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("http://../", Fault.EMPTY_LABEL),
        ("http://./", Fault.EMPTY_LABEL),
        ("http://a..b/", Fault.EMPTY_LABEL),
        ("http://.a.jp/", Fault.EMPTY_LABEL),
        ("http://a.jp../", Fault.EMPTY_LABEL),
        ("http://a%2e%2eb/", Fault.EMPTY_LABEL),
        ("http://a\u3002\u3002b/", Fault.EMPTY_LABEL),
        ("http://" + "a" * 64 + ".jp/", Fault.LONG_LABEL),
        ("http://www." + "例" * 60 + ".jp/", Fault.LONG_LABEL),
        ("http://" + ".".join(["a" * 50] * 5) + "/", Fault.LONG_NAME),
        ("http://" + "a." * 130 + "jp/", Fault.LONG_NAME),
        ("http://a.jp:0/", Fault.PORT),
        ("http://a.jp:000/", Fault.PORT),
        ("https://[::1]:0/", Fault.PORT),
        ("http://a.jp:65536/", Fault.PORT),
        ("HTTP://a.jp:99999999999999999999", Fault.PORT),
        ("http://u:p@a.jp/", Fault.CREDENTIALS),
        ("gopher://a.jp/", Fault.SCHEME),
        ("http://a b/", Fault.NOT_A_URL),
    ],
)
def test_a_refused_url_says_its_fault_by_a_code(text: str, code: Fault) -> None:
    """What no name server could know, and no client could ask, is refused by kind."""
    with pytest.raises(UrlError) as refused:
        canonical(text)
    assert refused.value.code == code


@pytest.mark.parametrize(
    "text",
    [
        "http://" + "a" * 63 + ".jp/",
        "http://" + ".".join(["a" * 49] * 5) + ".a/",
        "http://a.jp:65535/",
        "http://a.jp:1/",
        "http://a_b.jp/",
        "http://-a-.jp/",
        "http://a--b.jp/",
        "http://[::1]:8080/",
    ],
)
def test_names_and_ports_at_their_limits_are_taken(text: str) -> None:
    """The longest label and name, the first and last port, and odd names that exist are crawled."""
    assert canonical(text) == text


def test_a_relative_url_is_resolved() -> None:
    """Links resolve against the page they stand on."""
    assert canonical("../x?y", "http://a.jp/b/c/d") == "http://a.jp/b/x?y"


@given(URL_CHARACTERS)
def test_canonical_is_a_fixed_point(rest: str) -> None:
    """The canonical form of a canonical form is itself, whatever was written."""
    try:
        once = canonical("http://a.jp/" + rest)
    except UrlError:
        return
    assert canonical(once) == once
    assert "#" not in once
    assert once.isascii()


@given(URL_CHARACTERS)
def test_refusals_stay_on_one_line(rest: str) -> None:
    """Whatever text is refused, its message is one line that a log may carry."""
    try:
        canonical(rest)
    except UrlError as error:
        assert str(error).isprintable()


def test_web_platform_urls_agree_up_to_our_rules() -> None:
    """Every http(s) case of the Web Platform Tests gives the WHATWG form, escapes aside."""
    folder = fixture_folder("wpt-url")
    cases = json.loads((folder / "urltestdata.json").read_text())
    checked = 0
    for case in cases:
        if not isinstance(case, dict) or case.get("failure"):
            continue
        href = case["href"]
        base = None if case["base"] in (None, "about:blank") else case["base"]
        if not href.startswith(("http://", "https://")) or case["username"] or case["password"]:
            continue
        if "@" in href.split("/")[2]:
            continue
        try:
            ours = canonical(case["input"], base)
        except UrlError as error:
            # WHATWG takes names that DNS cannot have, and port 0.
            assert error.code in (Fault.EMPTY_LABEL, Fault.LONG_LABEL, Fault.PORT), case
            continue
        assert ours == canonical(href), case
        if "%" not in href:
            assert ours == href.split("#")[0], case
        checked += 1
    assert checked > 200


def test_web_platform_failures_are_refused() -> None:
    """What WHATWG calls a failure is no URL for us either."""
    folder = fixture_folder("wpt-url")
    for case in json.loads((folder / "urltestdata.json").read_text()):
        if isinstance(case, dict) and case.get("failure"):
            base = None if case["base"] in (None, "about:blank") else case["base"]
            with pytest.raises(UrlError):
                canonical(case["input"], base)


def test_keys_of_a_host() -> None:
    """A host key carries scheme, name and port; archives use name and port."""
    assert host_of("http://www.a.jp/x") == "http://www.a.jp:80/"
    assert host_of("https://www.a.jp/") == "https://www.a.jp:443/"
    assert host_key("HTTP://A.jp:8080/x?y") == "http://a.jp:8080/"
    assert name_and_port("http://www.etl.go.jp/") == "www.etl.go.jp:80"
    assert name_and_port("http://[::1]/") == "[::1]:80"


@pytest.mark.parametrize(
    ("url", "key"),
    [
        ("http://www.example.jp/path?q", "jp,example,www)/path?q"),
        ("https://www.example.jp/", "jp,example,www)/"),
        ("http://example.jp:8080/", "jp,example:8080)/"),
        ("http://127.0.0.1:81/A", "127.0.0.1:81)/A"),
        ("http://[2001:db8::1]/", "[2001:db8::1])/"),
    ],
)
def test_reversed_host_key(url: str, key: str) -> None:
    """Keys sort beside their domain; addresses are not turned round."""
    assert reversed_host_key(url) == key


def test_surt_keys_of_the_wayback_machine() -> None:
    """Where no massaging is asked for, our key is the Wayback Machine's."""
    rows = json.loads((fixture_folder("url-pairs") / "surt.json").read_text())
    plain = {"with_scheme": False, "host_massage": False}
    checked = [row for row in rows if row["func"] == "surt" and row["kwargs"] == plain]
    assert checked
    for row in checked:
        assert reversed_host_key(canonical(row["args"][0])) == row["expected"]


@pytest.mark.parametrize(
    ("spelling", "plain"),
    [
        ("http://www.a.jp./x?y", "http://www.a.jp/x?y"),
        ("http://www.a.jp.", "http://www.a.jp/"),
        ("http://www.a.jp%2E/", "http://www.a.jp/"),
        ("http://www.a.jp\uff0e/", "http://www.a.jp/"),
        ("https://A.JP.:8443/", "https://a.jp:8443/"),
        ("https://a.jp.:443/", "https://a.jp/"),
        ("http://192.0.2.1./", "http://192.0.2.1/"),
        ("http://a.jp./%7Ex", "http://a.jp/~x"),
    ],
)
def test_a_dot_at_the_end_of_a_host_name_is_dropped(spelling: str, plain: str) -> None:
    """Both spellings have one canonical form, one host key and one reversed key."""
    assert canonical(spelling) == plain
    assert host_key(spelling) == host_key(plain)
    assert host_of("http://a.jp./x") == "http://a.jp:80/"
    assert reversed_host_key("http://a.jp./x") == "jp,a)/x"


def test_dots_inside_a_path_or_query_stay() -> None:
    """Only the host name ends with a dot that means nothing."""
    assert canonical("http://a.jp/x.:1/y./?z.") == "http://a.jp/x.:1/y./?z."


def test_ports_of_other_protocols_are_refused_where_requests_go() -> None:
    """The 82 ports of the Fetch standard but 0, in each scheme and for each kind of host."""
    assert len(REFUSED_PORTS) == 83
    for port in REFUSED_PORTS - {0}:
        for origin in ("http://a.jp", "https://a.jp", "http://[2001:db8::1]", "http://192.0.2.1"):
            url = canonical(f"{origin}:{port}/x")
            assert has_refused_port(url)
            assert has_refused_port(host_of(url))
            with pytest.raises(UrlError, match=f"port {port} belongs to another protocol"):
                crawlable(url)


@pytest.mark.parametrize(
    "url",
    [
        *(
            "http://a.jp/",
            "https://a.jp/:25",
            "http://[::19]/",
            "http://a.jp:8080/",
            "http://a.jp:443/",
        ),
        *("https://a.jp:80/", "http://a.jp:10081/", "http://a.jp:65535/", "http://[2001:db8::25]/"),
    ],
)
def test_other_ports_are_crawled(url: str) -> None:
    """A digit behind a colon is a port only behind the host."""
    assert crawlable(url) == url
    assert not has_refused_port(host_of(url))
