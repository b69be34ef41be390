"""The one way to the network: the manager that the agent's key is good for.

The key goes to that manager only, over TLS or to loopback; redirects are not followed, and
answers are bounded. Their content is not trusted here: signatures decide (`signed_releases`).
"""

from __future__ import annotations

import json
import re
import ssl
import tomllib
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote, unquote, urlsplit

import urllib3
from tuf.api.exceptions import DownloadError, DownloadHTTPError
from tuf.ngclient import FetcherInterface

from launcher.errors import LauncherError, OfflineError, RefusedError
from launcher.time_limits import ANSWER_S, time_limit

__all__ = ["Fetcher", "Manager", "Site", "read_site"]

ANSWER_BYTES: Final = 100_000
CHUNK_BYTES: Final = 256 * 1024
LATER: Final = (408, 429)
MARK: Final = re.compile("[0-9a-f]{16}")
"""What each answer of a manager has as X-Request-Id, and none of a proxy (docs/adr/0145)."""

LOOPBACK: Final = ("localhost", "127.0.0.1", "::1")


@dataclass(frozen=True)
class Site:
    """Connection to the manager, from the agent's folder."""

    url: str
    key: str = field(repr=False)
    ca_file: str = ""
    proxy: str = ""
    timeout_s: float = 60.0


def read_site(data: Path) -> Site:
    """Return it from `key.json` and `prs.toml`. Raises LauncherError."""
    try:
        key = json.loads((data / "key.json").read_bytes())
        toml = data / "prs.toml"
        said = tomllib.loads(toml.read_text()) if toml.exists() else {}
        way = said.get("manager", {})
        ca_file = str(way.get("ca_file", ""))
        return Site(
            url=str(key["manager"]).rstrip("/"),
            key=str(key["key"]),
            ca_file=str(data / ca_file) if ca_file else "",
            proxy=str(way.get("proxy", "")),
            timeout_s=float(way.get("timeout_s", 60.0)),
        )
    except FileNotFoundError as error:
        raise LauncherError(f"{data}: no agent is enrolled here; `prs enrol` comes first") from (
            error
        )
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise LauncherError(f"{data}: key.json or prs.toml cannot be read ({error})") from error


class Manager:
    """Calls to the manager in the agent's name."""

    def __init__(self, site: Site) -> None:
        """Make ready; nothing is sent. Raises LauncherError."""
        self.url = f"{site.url}/api/v1/update"
        try:
            parts = urlsplit(site.url)
        except ValueError as error:
            raise LauncherError(f"{site.url[:200]!r} in key.json: {error}; enrol again") from error
        if not site.timeout_s > 0:
            raise LauncherError(
                f"manager.timeout_s = {site.timeout_s:g}: must be > 0; the default is 60"
            )
        host = parts.hostname or ""
        near = host in LOOPBACK
        if parts.scheme != "https" and not near:
            raise LauncherError(f"{site.url}: a key goes over https or to this very machine only")
        self._headers = {"Authorization": f"Bearer {site.key}", "User-Agent": "PRS-launcher"}
        timeout = urllib3.Timeout(connect=min(20.0, site.timeout_s), read=site.timeout_s)
        options: dict[str, Any] = {"timeout": timeout, "retries": False}
        if parts.scheme == "https":
            try:
                options["ssl_context"] = ssl.create_default_context(cafile=site.ca_file or None)
            except (OSError, ssl.SSLError) as error:
                raise LauncherError(f"manager.ca_file {site.ca_file}: {error}") from error
        proxy = "" if near else site.proxy or _proxy_of_machine(parts.scheme, host)
        self._pool = _through(proxy, options) if proxy else urllib3.PoolManager(**options)

    def offer(self, running: str) -> tuple[str, str, str]:
        """Return the version offered (empty: none), its file's name, and why.

        Raises OfflineError, RefusedError.
        """
        said = self._json("GET", f"{self.url}/offer?running={quote(running)}")
        try:
            return str(said["version"]), str(said["target"]), str(said["why"])
        except (KeyError, TypeError) as error:
            raise OfflineError(f"{self.url}: no offer ({error}); is it a PRSM manager?") from error

    def report(self, said: dict[str, str | int]) -> None:
        """Report how an update went. Raises OfflineError, RefusedError."""
        self._json("POST", f"{self.url}/report", json.dumps(said).encode())

    def open(self, method: str, url: str, body: bytes | None = None) -> urllib3.BaseHTTPResponse:
        """Return an answer whose body was not read yet. Raises OfflineError."""
        headers = dict(self._headers)
        if body is not None:
            headers["Content-Type"] = "application/json"
        try:
            return self._pool.request(
                method, url, body=body, headers=headers, redirect=False, preload_content=False
            )
        except urllib3.exceptions.HTTPError as error:
            raise OfflineError(f"the manager was not reached: {error}") from error

    def _json(self, method: str, url: str, body: bytes | None = None) -> Any:
        with time_limit(ANSWER_S, url):
            answer = self.open(method, url, body)
            try:
                data = answer.read(ANSWER_BYTES)
            except urllib3.exceptions.HTTPError as error:
                raise OfflineError(f"the manager's answer broke off: {error}") from error
            finally:
                answer.release_conn()
        status = answer.status
        if not 200 <= status < 300:
            if not _is_managers(answer):
                raise OfflineError(f"something before the manager answers {status}")
            said = f"the manager answers {status}: {_sentence(data)}"
            if status in (401, 403):
                raise RefusedError(said)
            raise OfflineError(said, is_no=400 <= status < 500 and status not in LATER)
        try:
            return json.loads(data) if data else None
        except ValueError as error:
            raise OfflineError(f"{url}: no JSON; is it a PRSM manager?") from error


class Fetcher(FetcherInterface):
    """The way to the network for The Update Framework's client."""

    def __init__(self, manager: Manager) -> None:
        self._manager = manager

    def _fetch(self, url: str) -> Iterator[bytes]:
        try:
            answer = self._manager.open("GET", url)
        except OfflineError as error:
            raise DownloadError(str(error)) from error
        if answer.status != 200:
            answer.close()
            if answer.status in (401, 403) and not _is_managers(answer):
                raise DownloadError(f"{url}: something before the manager answers {answer.status}")
            raise DownloadHTTPError(f"{url}: {answer.status}", answer.status)
        return self._chunks(answer)

    def _chunks(self, answer: urllib3.BaseHTTPResponse) -> Iterator[bytes]:
        try:
            yield from answer.stream(CHUNK_BYTES)
        except urllib3.exceptions.HTTPError as error:
            raise DownloadError(f"the download broke off: {error}") from error
        finally:
            answer.release_conn()


def _through(proxy: str, options: dict[str, Any]) -> urllib3.PoolManager:
    """Return the way through a proxy. urllib3 itself passes over the name and password in its URL.

    Raises LauncherError.
    """
    headers, bare = None, proxy.rpartition("@")[2]
    try:
        parts = urlsplit(proxy)
        if parts.username is not None:
            login = f"{unquote(parts.username)}:{unquote(parts.password or '')}"
            headers = urllib3.make_headers(proxy_basic_auth=login)
        bare = parts._replace(netloc=parts.netloc.rpartition("@")[2]).geturl()
        return urllib3.ProxyManager(bare, proxy_headers=headers, **options)
    except (urllib3.exceptions.HTTPError, ValueError) as error:
        raise LauncherError(f"manager.proxy {bare}: {error}") from error


def _is_managers(answer: urllib3.BaseHTTPResponse) -> bool:
    return MARK.fullmatch(answer.headers.get("X-Request-Id", "")) is not None


def _proxy_of_machine(scheme: str, host: str) -> str:
    if urllib.request.proxy_bypass(host):
        return ""
    return urllib.request.getproxies().get(scheme, "")


def _sentence(data: bytes) -> str:
    try:
        return str(json.loads(data)["detail"])
    except (ValueError, KeyError, TypeError):
        return data[:200].decode("utf-8", "replace")
