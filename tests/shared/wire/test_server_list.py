"""M1 and M2, and what they mean."""

from __future__ import annotations

import gzip

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.errors import FormatError, LineError
from shared.wire import orders, server_list
from shared.wire.orders import ListHead, Order
from shared.wire.server_list import Comment, ListLine, MaxTransfer, UrlLine

ANY_TEXT = st.text(alphabet=st.characters(exclude_categories=["Cs"]), max_size=30)
WORDS = ANY_TEXT.filter(lambda text: "\n" not in text)
URLS = WORDS.filter(lambda text: text and "\t" not in text and not text.startswith("#"))
REFERERS = st.none() | WORDS.filter(lambda text: "\t" not in text)
LINES: st.SearchStrategy[ListLine] = st.one_of(
    st.builds(UrlLine, URLS, REFERERS),
    st.builds(MaxTransfer, st.integers(0, 10**17)),
    st.builds(Comment, WORDS.filter(lambda text: not text.startswith("MaxTransfer="))),
)


@given(st.lists(LINES))
def test_lists_survive_the_wire(lines: list[ListLine]) -> None:
    """N lines in are N lines out, and the same ones."""
    body = b"".join(server_list.encode(lines))
    assert gzip.decompress(body).count(b"\n") == len(lines)
    assert list(server_list.decode([body])) == lines


@given(ANY_TEXT, ANY_TEXT | st.none())
def test_no_text_makes_two_lines_of_one(url: str, referer: str | None) -> None:
    """Whatever a URL holds, it is one line or refused."""
    try:
        line = server_list.encode_line(UrlLine(url, referer))
    except FormatError:
        return
    assert line.count(b"\n") == 1
    assert server_list.decode_line(1, line[:-1]) == UrlLine(url, referer)


@given(st.binary(max_size=60).filter(lambda line: b"\n" not in line))
def test_any_line_decodes_to_itself_or_not_at_all(line: bytes) -> None:
    """Decoding loses no byte of what it accepts."""
    try:
        decoded = server_list.decode_line(7, line)
    except LineError as error:
        assert error.line == 7
    else:
        assert server_list.encode_line(decoded) == line + b"\n"


@pytest.mark.parametrize("line", ["", "\thttp://a/", "http://a/\thttp://b/\thttp://c/"])
def test_malformed_lines_are_named(line: str) -> None:
    """A line that is neither URL nor comment is refused with its number."""
    body = gzip.compress(f"http://ok/\n{line}\n".encode())
    with pytest.raises(LineError, match="line 2"):
        list(server_list.decode([body]))


@pytest.mark.parametrize(
    "text", ["MaxTransfer=", "MaxTransfer=-1", "MaxTransfer=007", "MaxTransfer=x"]
)
def test_what_only_looks_like_a_limit_is_a_comment(text: str) -> None:
    """A directive that is not one is skipped, as an old agent would."""
    assert server_list.decode_line(1, b"#" + text.encode()) == Comment(text)


def test_scheme_is_completed_as_in_the_source() -> None:
    """An operator may leave `http://` out."""
    assert server_list.complete_line("www.a.jp/") == "http://www.a.jp/"
    for line in ("http://a/", "https://a/", "#MaxTransfer=50"):
        assert server_list.complete_line(line) == line


def test_a_limit_holds_until_the_next() -> None:
    """MaxTransfer holds for the lines after it; comments behind a unit belong to it."""
    lines: list[ListLine] = [
        Comment("Round=3"),
        Comment("Generation=42"),
        Comment("Lease=7200"),
        UrlLine("http://a/"),
        MaxTransfer(50),
        UrlLine("http://b/", "http://a/x"),
        Comment("Interval=40000"),
        Comment("Share=4"),
        Comment("Except=/d/"),
        Comment("Except=/e/"),
        Comment("Start=/f/"),
        Comment("Start=/g/\thttp://b/y"),
        Comment("anything"),
        UrlLine("http://c/"),
        MaxTransfer(0),
        UrlLine("http://d/"),
    ]
    assert list(orders.orders(lines)) == [
        ListHead(3, 42, 7200),
        Order("http://a/"),
        Order(
            "http://b/",
            "http://a/x",
            50,
            40000,
            ("/d/", "/e/"),
            4,
            (("/f/", None), ("/g/", "http://b/y")),
        ),
        Order("http://c/", None, 50),
        Order("http://d/"),
    ]


ORDERS = st.builds(
    Order,
    URLS,
    REFERERS,
    st.integers(0, 100),
    st.none() | st.integers(0, 10**9),
    st.lists(WORDS.map(lambda text: "/" + text), max_size=3).map(tuple),
    st.integers(0, 100),
    st.lists(
        st.tuples(WORDS.map(lambda text: "/" + text.replace("\t", "")), REFERERS), max_size=3
    ).map(tuple),
    st.lists(WORDS.map(lambda text: "/" + text), max_size=3).map(tuple),
)


@given(
    st.builds(ListHead, *[st.none() | st.integers(0, 10**12)] * 3),
    st.lists(ORDERS),
)
def test_orders_survive_their_lines(head: ListHead, items: list[Order]) -> None:
    """What the manager means is what the agent reads."""
    lines = [*orders.head_lines(head), *orders.order_lines(items)]
    body = b"".join(server_list.encode(lines))
    assert list(orders.orders(server_list.decode([body]))) == [head, *items]


@pytest.mark.parametrize(
    ("order", "kind"),
    [
        (Order("http://a/"), "crawl"),
        (Order("http://a/", None, 50), "probe"),
        (Order("http://a/", None, 2, only=("/x", "/y/")), "refetch"),
    ],
)
def test_an_order_says_what_it_is_for(order: Order, kind: str) -> None:
    """To an agent that does not know `#Only`, pages to fetch again read as a small probe."""
    assert order.kind == kind
    body = b"".join(server_list.encode(orders.order_lines([order])))
    (_, read) = orders.orders(server_list.decode([body]))
    assert read == order
