"""Settings of the manager: where and how it listens."""

from __future__ import annotations

from shared.frozen import frozen
from shared.settings import Range, setting

__all__ = ["ServerSettings"]


@frozen
class ServerSettings:
    """Addresses and sockets on which the manager listens."""

    listen_host: str = setting(
        "127.0.0.1",
        "address",
        "address on which the manager listens; loopback by default: others reach it only when "
        "somebody decides so",
    )
    listen_port: int = setting(
        8000,
        Range("port", 0, 65535),
        "port on which the manager listens; the default needs no root; 0: any free port",
    )
    public_url: str = setting(
        "",
        "URL",
        "address of the manager as agents reach it and as links have it; empty: made from host and "
        "port",
    )
    socket: str = setting(
        "",
        "path",
        "Unix socket through which the prsm commands reach the manager; empty: prsm.sock in the "
        "data directory",
    )
    tls_certificate: str = setting(
        "",
        "path",
        "file with the manager's TLS certificate and its chain (PEM); empty: plain HTTP, then keys "
        "are taken from loopback only",
    )
    tls_key: str = setting(
        "", "path", "file with the private key of `server.tls_certificate` (PEM)"
    )
    behind_tls_proxy: bool = setting(
        False,
        "yes/no",
        "whether a proxy in front ends TLS; the X-Forwarded-Proto and X-Forwarded-For that it sets "
        "are believed then, and plain HTTP from loopback is no longer private",
    )
    proxy_addresses: tuple[str, ...] = setting(
        ("127.0.0.0/8", "::1/128"),
        "networks",
        "addresses from which the proxy in front connects; headers from others are not believed; "
        "the default is a proxy on the same machine",
    )
    hsts_s: int = setting(
        31_536_000,
        Range("s", 0, 63_072_000),
        "how long browsers that came over TLS refuse plain HTTP to this host name "
        "(Strict-Transport-Security); a year, as hardening guides ask; 0: not told",
    )
    metrics_host: str = setting(
        "127.0.0.1",
        "address",
        "address on which metrics for Prometheus are served; who reads metrics sees how large the "
        "crawl is",
    )
    metrics_port: int = setting(
        0, Range("port", 0, 65535), "port on which metrics for Prometheus are served; 0: no metrics"
    )
    log_format: str = setting(
        "text",
        "text or json",
        "form of the log that the manager writes to standard error; json: one object a line, for "
        "machines",
    )
    stop_s: float = setting(
        20.0,
        Range("s", 0, 600),
        "how long requests under way may go on when the manager is stopped; systemd waits 90 s",
    )
