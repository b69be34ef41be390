"""Decide what a host answers to a request: fault first, then robots.txt, page, leaf, or 404.

No sockets and no waiting here; how an answer is paced and broken on the wire is the server's.
"""

from __future__ import annotations

from email.utils import formatdate
from hashlib import blake2b

from simweb.servers.answer import Answer, Delivery, text_answer
from simweb.servers.content_coding import BodyCache, encode, name_of_coding
from simweb.servers.request import Request, accepts
from simweb.sites.chance import draw
from simweb.sites.file_site import FolderAnswers
from simweb.sites.leaves import LeafAnswers, content_type, other_host
from simweb.sites.pages import page_html
from simweb.sites.plan import HostPlan, World
from simweb.sites.robots import forbids, robots_text
from simweb.sites.world_state import Running

__all__ = ["Answers"]

_SITEMAP_PAGES = 1_000
_LEAST_TO_CODE_BYTES = 150
_ROBOTS_HOPS = ("/robots.txt", "/robots-moved.txt", "/robots-final.txt")


class Answers:
    """The answers of all hosts of a running world."""

    def __init__(self, world: World, running: Running, port: int) -> None:
        self._world, self._running, self._port = world, running, port
        self._cache = BodyCache()
        self._leaves = LeafAnswers(world, running, port)
        self._folders = FolderAnswers(world.options)

    def host_of(self, request: Request, server: str) -> HostPlan | None:
        """Return the host that a request to an address means; None when it is not there."""
        if not request.host:
            running = self._running
            at_address = (h for h in self._world.hosts if server in running.addresses_of(h))
            return next(at_address, None)
        host = self._world.by_name.get(request.host)
        return host if host and server in self._running.addresses_of(host) else None

    def disallowed(self, host: HostPlan, request: Request) -> bool:
        """Return whether the host's robots.txt, as planned, forbids this to this robot."""
        return forbids(self._robots_text(host), request.user_agent, request.target)

    def answer(self, request: Request, host: HostPlan | None, client: str) -> Answer:
        """Return the answer of a host; None means that no such host is at this address."""
        if request.method not in ("GET", "HEAD"):
            return text_answer(405, headers=[("Allow", "GET, HEAD")])
        if host is None:
            return text_answer(421, f"no host {request.host!r} at this address\n")
        fault = self._running.fault_of(host)
        answer = self._by_fault(host, fault, request, client)
        if answer is None:
            answer = self._plain(host, request)
            if fault == "slow":
                answer.fault = "host-slow"
                answer.delivery = Delivery(drip_s=self._world.options.slow_s)
        answer.close = not host.keep_alive
        return answer

    def overloaded(self) -> Answer:
        """Return the answer of an address that has too much to do."""
        wait_s = self._world.options.retry_after_s
        headers = [("Retry-After", str(wait_s))]
        answer = text_answer(429, headers=headers, fault="address-overloaded")
        answer.retry_after_s = wait_s
        return answer

    def _by_fault(self, host: HostPlan, fault: str, request: Request, client: str) -> Answer | None:
        is_robots = request.path == "/robots.txt"
        options = self._world.options
        match fault:
            case "hang":
                return Answer(200, delivery=Delivery(hang=True), fault="host-hang")
            case "reset":
                return Answer(200, delivery=Delivery(share=0, reset=True), fault="host-reset")
            case "error" if not is_robots:
                return text_answer(503, fault="host-error")
            case "redirect" if not is_robots:
                other = other_host(self._world, host, "moved")
                location = (other or host).url(self._port)
                return text_answer(301, headers=[("Location", location)], fault="host-redirect")
            case "rate-limited":
                if self._running.too_fast(client, host, options.rate_limit_ms / 1_000):
                    wait_s = options.retry_after_s
                    headers = [("Retry-After", str(wait_s))]
                    answer = text_answer(429, headers=headers, fault="host-rate-limited")
                    answer.retry_after_s = wait_s
                    return answer
        return None

    def _plain(self, host: HostPlan, request: Request) -> Answer:
        if host.folder:
            answer = self._folders.answer(host, request)
            return self._coded(host, request, answer, None)
        if request.path.startswith("/robots"):
            return self._robots(host, request.path)
        site = self._world.site(host)
        page = site.page_at(request.target)
        if page is not None:
            return self._page(host, request, page)
        if request.target == "/sitemap.xml" and host.robots == "sitemap":
            return self._sitemap(host)
        path, _, query = request.target.partition("?")
        leaf = self._leaves.answer(host, path, query)
        if leaf is None:
            return text_answer(404)
        if leaf.status != 200 or leaf.delivery.raw:
            return leaf
        coded = any(name == "Content-Encoding" for name, _ in leaf.headers)
        whole = leaf.delivery == Delivery() and not coded and len(leaf.body) < 1_000_000
        return self._validated(host, request, leaf, path) if whole else leaf

    def _page(self, host: HostPlan, request: Request, page: int) -> Answer:
        version, since = self._running.version_of(host, page)
        answer = Answer(200, [content_type(host)])
        if self._not_modified(host, request, answer, f"{page}/{version}", since):
            return Answer(304, answer.headers)
        key = (host.index, page, version)
        answer.body = self._cache.get(
            key, lambda: page_html(self._world, host, page, version, self._port)
        )
        answer.chunked = draw(host.key, "chunked", page) < self._world.options.chunked_share
        return self._coded(host, request, answer, key)

    def _validated(self, host: HostPlan, request: Request, answer: Answer, path: str) -> Answer:
        """Give a leaf's page its validators and coding."""
        version, since = self._running.version_of(host, path)
        digest = blake2b(answer.body, digest_size=8).hexdigest()
        if self._not_modified(host, request, answer, f"{path}/{version}/{digest}", since):
            return Answer(304, answer.headers, fault=answer.fault)
        return self._coded(host, request, answer, None)

    def _not_modified(
        self, host: HostPlan, request: Request, answer: Answer, identity: str, since: int
    ) -> bool:
        """Add validators to the answer; say whether the client's copy is still good."""
        if not host.validators:
            return False
        tag = blake2b(f"{host.key}/{identity}".encode(), digest_size=8).hexdigest()
        weak = "W/" if host.coding else ""  # one tag for the plain and the compressed body
        answer.headers.append(("ETag", f'{weak}"{tag}"'))
        answer.headers.append(("Last-Modified", formatdate(since, usegmt=True)))
        return request.has_current(tag, since)

    def _coded(
        self, host: HostPlan, request: Request, answer: Answer, key: tuple[int, ...] | None
    ) -> Answer:
        """Compress an answer when the host does and the client allows it."""
        if not host.coding or answer.status != 200 or len(answer.body) < _LEAST_TO_CODE_BYTES:
            return answer
        kind = next((v for n, v in answer.headers if n == "Content-Type"), "")
        if not kind.startswith("text/"):
            return answer
        answer.headers.append(("Vary", "Accept-Encoding"))
        name = name_of_coding(host.coding)
        if accepts(request.headers.get("accept-encoding", ""), name):
            body = answer.body
            if key is None:
                answer.body = encode(body, host.coding)
            else:
                answer.body = self._cache.get((*key, name), lambda: encode(body, host.coding))
            answer.headers.append(("Content-Encoding", name))
        return answer

    def _robots(self, host: HostPlan, path: str) -> Answer:
        kind = host.robots
        if kind == "error" and path == "/robots.txt":
            return text_answer(503)
        last = 2 if kind == "redirect" else 0
        if kind == "none" or path not in _ROBOTS_HOPS[: last + 1]:
            return text_answer(404)
        hop = _ROBOTS_HOPS.index(path)
        if hop < last:
            return text_answer(301 + hop, headers=[("Location", _ROBOTS_HOPS[hop + 1])])
        return text_answer(200, self._robots_text(host))

    def _robots_text(self, host: HostPlan) -> str:
        if host.folder:
            return self._folders.robots_text(host)
        sitemap = host.url(self._port, "/sitemap.xml")
        return robots_text(host.robots, host.crawl_delay_s, sitemap)

    def _sitemap(self, host: HostPlan) -> Answer:
        site = self._world.site(host)
        urls = (
            host.url(self._port, site.path_of(page)).replace("&", "&amp;")
            for page in range(min(site.mainland, _SITEMAP_PAGES))
        )
        lines = "\n".join(f"<url><loc>{url}</loc></url>" for url in urls)
        body = (
            '<?xml version="1.0" encoding="UTF-8"?>\n'
            f'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">\n{lines}\n</urlset>\n'
        )
        return Answer(200, [("Content-Type", "application/xml")], body.encode())
