"""What hosts answer: pages, faults, conditional requests, codings, robots.txt. No sockets."""

from __future__ import annotations

import zlib
from functools import partial

import brotli
import pytest

from simweb.servers.answer import Answer, Delivery
from simweb.servers.content_coding import BodyCache, encode
from simweb.servers.request import Request
from simweb.sites.file_site_crawl import LinkReader
from simweb.sites.leaves import BOMB_BYTES, CHAIN_HOPS, DEEP_HOPS, LARGE_BYTES
from simweb.sites.options import WorldOptions
from simweb.sites.pages import page_html
from simweb.sites.plan import HostPlan
from simweb.sites.trouble import PAGE_TROUBLE, Outcome
from tests.simweb.conftest import PORT, Served, served

CLIENT = "127.10.0.1"


def ask(web: Served, host: HostPlan, target: str = "/", **headers: str) -> Answer:
    """Ask a host for a path."""
    names = {name.replace("_", "-"): value for name, value in headers.items()}
    request = Request("GET", target, "HTTP/1.1", {"host": host.name, **names})
    found = web.answers.host_of(request, host.address)
    return web.answers.answer(request, found, CLIENT)


def ask_leaf(web: Served, kind: str, query: str = "") -> Answer:
    """Ask for a leaf of a kind, wherever there is one."""
    host = web.host_with(kind)
    leaf = next(leaf for leaf in web.world.site(host).leaves() if leaf.kind == kind)
    return ask(web, host, leaf.path + query)


def header(answer: Answer, name: str) -> str | None:
    """Return a header's value."""
    return next((value for key, value in answer.headers if key == name), None)


def calm(**options: object) -> Served:
    """Return a small world without trouble."""
    values = {"hosts": 12, "seed": 9, "pages_mean": 15, "trouble_scale": 0, "validators_share": 1}
    return served(WorldOptions(**{**values, **options}))  # type: ignore[arg-type]  # by field


def test_a_page_is_what_the_generator_makes() -> None:
    """Body and type come from the plan alone."""
    web = calm(compress_share=0)
    host = web.world.hosts[0]
    answer = ask(web, host, "/")
    assert answer.status == 200
    assert answer.body == page_html(web.world, host, 0, 0, PORT)
    assert (header(answer, "Content-Type") or "").startswith("text/html")


def test_unknown_paths_are_404() -> None:
    """So are leaves with a query that nobody links to, and robots.txt where there is none."""
    web = calm(robots=("none=1000000",))
    host = web.world.hosts[0]
    for path in ("/x", "/robots.txt", "/?a=b", "/t/redirect/0.html", "/landing/redirect/0.html"):
        assert ask(web, host, path).status == 404


def test_a_name_at_another_address_is_misdirected() -> None:
    """A host answers at its own address only."""
    web = calm()
    request = Request("GET", "/", "HTTP/1.1", {"host": web.world.hosts[0].name})
    assert web.answers.host_of(request, "127.99.0.1") is None
    assert web.answers.answer(request, None, CLIENT).status == 421


def test_without_a_host_header_the_first_name_of_the_address_answers() -> None:
    """As old servers did."""
    web = calm()
    host = web.world.hosts[3]
    found = web.answers.host_of(Request("GET", "/", "HTTP/1.0", {}), host.address)
    assert found is not None
    assert found.address == host.address


def test_only_get_and_head() -> None:
    """Forms are not submitted here."""
    web = calm()
    request = Request("POST", "/", "HTTP/1.1", {"host": web.world.hosts[0].name})
    answer = web.answers.answer(request, web.world.hosts[0], CLIENT)
    assert (answer.status, header(answer, "Allow")) == (405, "GET, HEAD")


def test_a_known_etag_gives_304_and_a_change_gives_200() -> None:
    """ETag and Last-Modified follow the version of the page."""
    web = calm()
    host = web.world.hosts[0]
    first = ask(web, host)
    tag, date = header(first, "ETag") or "", header(first, "Last-Modified") or ""
    assert ask(web, host, if_none_match=tag).status == 304
    assert ask(web, host, if_none_match=f'"other", {tag}').status == 304
    assert ask(web, host, if_modified_since=date).status == 304
    assert ask(web, host, if_none_match='"other"', if_modified_since=date).status == 200
    assert ask(web, host, if_modified_since="yesterday").status == 200
    web.clock.now_s += 5
    web.running.change(1.0, host)
    changed = ask(web, host, if_none_match=tag)
    assert changed.status == 200
    assert changed.body != first.body
    assert header(changed, "ETag") != tag
    assert ask(web, host, if_modified_since=date).status == 200


def test_hosts_without_validators_send_none() -> None:
    """Many real servers do not either."""
    web = calm(validators_share=0)
    answer = ask(web, web.world.hosts[0], if_none_match="*")
    assert answer.status == 200
    assert header(answer, "ETag") is None


@pytest.mark.parametrize("coding", ["gzip", "deflate", "deflate-raw", "br"])
def test_codings_are_undone(coding: str) -> None:
    """What is packed by a host's coding is the body."""
    body = b"<p>a page</p>" * 100
    packed = encode(body, coding)
    assert len(packed) < len(body)
    wbits = {"gzip": 31, "deflate": 15, "deflate-raw": -15}
    plain = brotli.decompress(packed) if coding == "br" else zlib.decompress(packed, wbits[coding])
    assert plain == body


def test_a_host_compresses_only_when_allowed() -> None:
    """Accept-Encoding decides, and Vary says so."""
    web = calm(compress_share=1)
    host = next(host for host in web.world.hosts if host.coding == "gzip")
    plain, packed = ask(web, host), ask(web, host, accept_encoding="gzip")
    assert header(plain, "Content-Encoding") is None
    assert header(plain, "Vary") == header(packed, "Vary") == "Accept-Encoding"
    assert header(packed, "Content-Encoding") == "gzip"
    assert zlib.decompress(packed.body, 31) == plain.body


def test_every_kind_of_page_trouble_is_answered(troubled: Served) -> None:
    """Each kind has its answer, under its own name, and 404 only where that is the kind."""
    for kind in PAGE_TROUBLE:
        answer = ask_leaf(troubled, kind)
        assert answer.fault == kind
        assert answer.status != 404 or kind == "not-found", kind


@pytest.mark.parametrize(
    ("kind", "status"), [("not-found", 404), ("gone", 410), ("error", 500), ("duplicate", 200)]
)
def test_statuses(troubled: Served, kind: str, status: int) -> None:
    """The status that the kind promises."""
    assert ask_leaf(troubled, kind).status == status


@pytest.mark.parametrize(
    ("kind", "delivery"),
    [
        ("hang", Delivery(hang=True)),
        ("reset", Delivery(share=0.5, reset=True)),
        ("cut", Delivery(share=0.5)),
        ("slow", Delivery(drip_s=10.0)),
        ("garbage", Delivery(raw=True)),
        ("endless", Delivery(endless=True)),
        ("wrong-length", Delivery(length_error=-100)),
    ],
)
def test_deliveries(troubled: Served, kind: str, delivery: Delivery) -> None:
    """How the body is sent wrongly."""
    assert ask_leaf(troubled, kind).delivery == delivery


def follow(web: Served, kind: str, limit: int = 50) -> list[Answer]:
    """Follow the redirects of a leaf within its host; return all answers."""
    host = web.host_with(kind)
    top = host.url(PORT).removesuffix("/")
    leaf = next(leaf for leaf in web.world.site(host).leaves() if leaf.kind == kind)
    answers = [ask(web, host, leaf.path)]
    while answers[-1].status in (301, 302, 303, 307, 308) and len(answers) < limit:
        location = (header(answers[-1], "Location") or "").removeprefix(top)
        if location.startswith("http"):
            break
        answers.append(ask(web, host, location))
    return answers


@pytest.mark.parametrize(
    ("kind", "hops"),
    [("redirect", 1), ("redirect-chain", CHAIN_HOPS), ("redirect-deep", DEEP_HOPS)],
)
def test_redirects_end_after_their_hops(troubled: Served, kind: str, hops: int) -> None:
    """At a page with 200."""
    answers = follow(troubled, kind)
    assert len(answers) == hops + 1
    assert answers[-1].status == 200


def test_a_redirect_loop_never_ends(troubled: Served) -> None:
    """Two URLs point to each other."""
    assert len(follow(troubled, "redirect-loop", limit=30)) == 30


def test_a_redirect_to_another_host_names_a_healthy_one(troubled: Served) -> None:
    """The Location is the top page of a host that answers."""
    location = header(ask_leaf(troubled, "redirect-host"), "Location") or ""
    names = [host.name for host in troubled.world.hosts if host.healthy]
    assert location.removeprefix("http://").split(":")[0] in names


def test_busy_refuses_until_its_time_is_over(troubled: Served) -> None:
    """429 with Retry-After, again when asked too soon, then the page."""
    first = ask_leaf(troubled, "busy")
    assert (first.status, first.retry_after_s, header(first, "Retry-After")) == (429, 2, "2")
    troubled.clock.now_s += 1.9
    assert ask_leaf(troubled, "busy").status == 429
    troubled.clock.now_s += 0.2
    assert ask_leaf(troubled, "busy").status == 200


def test_flaky_fails_once(troubled: Served) -> None:
    """503, then the page."""
    assert [ask_leaf(troubled, "flaky").status for _ in range(3)] == [503, 200, 200]


def test_gzip_is_broken_as_its_kind_says(troubled: Served) -> None:
    """A wrong byte, or an early end; both are told as gzip whatever the client accepts."""
    for kind in ("broken-gzip", "cut-gzip"):
        answer = ask_leaf(troubled, kind)
        assert header(answer, "Content-Encoding") == "gzip"
        unpacker = zlib.decompressobj(31)
        try:
            unpacker.decompress(answer.body)
            broken = False
        except zlib.error:
            broken = True
        assert broken is (kind == "broken-gzip")
        assert not unpacker.eof


def test_large_things_are_as_large_as_promised(troubled: Served) -> None:
    """25 MB of page, 100 MB in 0.1 MB of gzip, 80 KB of headers."""
    assert len(ask_leaf(troubled, "large").body) == LARGE_BYTES
    bomb = ask_leaf(troubled, "bomb").body
    assert len(bomb) < 200_000
    unpacker, size, data = zlib.decompressobj(31), 0, bomb
    while not unpacker.eof:
        size += len(unpacker.decompress(data, 1_000_000))
        data = unpacker.unconsumed_tail
    assert size == BOMB_BYTES
    assert sum(len(value) for _, value in ask_leaf(troubled, "big-header").headers) > 65_536


def test_duplicates_are_byte_for_byte_the_same(troubled: Served) -> None:
    """A page of the same host has the same body."""
    host = troubled.host_with("duplicate")
    site = troubled.world.site(host)
    bodies = {page_html(troubled.world, host, page, 0, PORT) for page in range(site.pages)}
    answer = ask_leaf(troubled, "duplicate")
    assert answer.body in bodies


@pytest.mark.parametrize("kind", ["trap", "trap-path", "trap-session"])
def test_traps_go_on_and_on(troubled: Served, kind: str) -> None:
    """Each page of a trap has a link to a page of the trap that was not seen before."""
    host = troubled.host_with(kind)
    leaf = next(leaf for leaf in troubled.world.site(host).leaves() if leaf.kind == kind)
    url, seen = host.url(PORT, leaf.path), set()
    for _ in range(50):
        seen.add(url)
        answer = ask(troubled, host, url.removeprefix(host.url(PORT)[:-1]))
        assert (answer.status, answer.fault[:4]) == (200, "trap")
        reader = LinkReader(url)
        reader.feed(answer.body.decode("latin-1"))
        url = next(link for link in reader.links() if link not in seen)
        assert "/t/trap" in url


def test_a_png_is_a_png(troubled: Served) -> None:
    """Signature, type, and pixels that unpack."""
    answer = ask_leaf(troubled, "image")
    assert header(answer, "Content-Type") == "image/png"
    assert answer.body.startswith(b"\x89PNG\r\n\x1a\n")
    at = answer.body.index(b"IDAT")
    size = int.from_bytes(answer.body[at - 4 : at], "big")
    assert len(zlib.decompress(answer.body[at + 4 : at + 4 + size])) == 16 * 17


def test_hosts_in_trouble(troubled: Served) -> None:
    """Each kind that HTTP can show is shown by every page."""
    by_kind = {host.trouble: host for host in troubled.world.hosts if host.trouble}
    assert ask(troubled, by_kind["hang"]).delivery.hang
    assert ask(troubled, by_kind["reset"]).delivery == Delivery(share=0, reset=True)
    assert ask(troubled, by_kind["error"]).status == 503
    assert ask(troubled, by_kind["error"], "/robots.txt").status != 301
    assert ask(troubled, by_kind["redirect"]).status == 301
    assert ask(troubled, by_kind["slow"]).delivery.drip_s == 10
    limited = by_kind["rate-limited"]
    statuses = [ask(troubled, limited).status for _ in range(2)]
    troubled.clock.now_s += 0.3
    assert [*statuses, ask(troubled, limited).status] == [200, 429, 200]


def test_a_fault_at_run_time_replaces_the_planned_one(troubled: Served) -> None:
    """A host can fall ill and be healed."""
    host = troubled.world.hosts[0]
    troubled.running.set_fault(host, "error")
    assert ask(troubled, host).status == 503
    troubled.running.set_fault(host, "")
    assert ask(troubled, host).status == 200


ROBOTS = {"allow": 200, "disallow": 200, "crawl-delay": 200, "redirect": 301, "error": 503}


@pytest.mark.parametrize("kind", ROBOTS)
def test_robots_txt_by_kind(kind: str) -> None:
    """Each kind answers its own way; a redirect leads to a text in two hops."""
    web = calm(hosts=60, robots=("none=0", f"{kind}=50"))
    host = next(host for host in web.world.hosts if host.robots == kind)
    path, statuses = "/robots.txt", []
    for _ in range(3):
        answer = ask(web, host, path)
        statuses.append(answer.status)
        path = header(answer, "Location") or path
    assert statuses[0] == ROBOTS[kind]
    if kind == "redirect":
        assert statuses == [301, 302, 200]
        assert b"Disallow: /private/" in answer.body


def test_disobedience_is_seen() -> None:
    """Private pages are linked, answered, and marked as forbidden."""
    web = calm(hosts=20, robots=("none=0", "allow=0", "error=0", "forbid=0"))
    host = web.world.hosts[1]
    for path, forbidden in (("/private/0.html", True), ("/private/open/0.html", False)):
        request = Request("GET", path, "HTTP/1.1", {"host": host.name, "user-agent": "PRSM/1"})
        assert web.answers.disallowed(host, request) is forbidden
        assert web.answers.answer(request, host, CLIENT).status == 200


def test_a_sitemap_lists_pages() -> None:
    """Where robots.txt names one, it is there, and its URLs are pages."""
    web = calm(hosts=60, robots=("sitemap=50",))
    host = next(host for host in web.world.hosts if host.robots == "sitemap")
    assert host.url(PORT, "/sitemap.xml").encode() in ask(web, host, "/robots.txt").body
    body = ask(web, host, "/sitemap.xml").body.decode()
    locations = [part.split("</loc>")[0] for part in body.split("<loc>")[1:]]
    assert locations
    for url in locations:
        path = url.replace("&amp;", "&").removeprefix(host.url(PORT)[:-1])
        assert ask(web, host, path).status == 200


def test_outcomes_of_kinds_match_their_answers(troubled: Served) -> None:
    """A kind that counts as captured answers 200 at once, a kind of error never does."""
    for kind, trouble in PAGE_TROUBLE.items():
        answer = ask_leaf(troubled, kind)
        if trouble.outcome is Outcome.CAPTURE:
            assert (answer.status, answer.delivery) == (200, Delivery())
        if trouble.outcome is Outcome.ERROR:
            assert answer.status >= 400 or answer.delivery != Delivery()


def test_the_cache_is_bounded() -> None:
    """Old bodies leave when newer ones need the room; what is asked for stays."""
    made: list[int] = []
    cache = BodyCache(limit_bytes=250)

    def make(number: int) -> bytes:
        made.append(number)
        return bytes(100)

    for number in (1, 2, 1, 3, 1, 2):
        cache.get(number, partial(make, number))
    assert made == [1, 2, 3, 2]
