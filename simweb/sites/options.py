"""Options of a simulated web. The command line is made from these fields.

Two worlds with equal `WorldOptions` are equal, page by page and byte by byte (given the port).
"""

from __future__ import annotations

import dataclasses
import re
from dataclasses import dataclass, field
from typing import Any

from shared.errors import SettingError

__all__ = ["NAME", "ServeOptions", "WorldOptions", "flag_of"]


NAME = re.compile(r"(?=.{1,200}\Z)[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*")


def _setting(default: Any, text: str, least: float | None = None, most: float | None = None) -> Any:
    return field(default=default, metadata={"help": text, "least": least, "most": most})


def flag_of(name: str) -> str:
    """Return the command-line spelling of a field."""
    return "--" + name.replace("_", "-")


def _check(options: Any) -> None:
    for item in dataclasses.fields(options):
        value, limits = getattr(options, item.name), item.metadata
        least, most = limits["least"], limits["most"]
        if least is not None and value < least:
            problem = f"must be >= {least}"
        elif most is not None and value > most:
            problem = f"must be <= {most}"
        else:
            continue
        raise SettingError(f"{flag_of(item.name)} = {value}: {problem}; default {item.default}")


@dataclass(frozen=True, slots=True, kw_only=True)
class WorldOptions:
    """Everything that decides what the world is."""

    seed: int = _setting(1, "decides everything that is drawn")
    hosts: int = _setting(300, "generated hosts", 0, 200_000)
    regions: int = _setting(8, "regions; an agent at 127.10.R.N is in region R", 1, 200)
    domain: str = _setting("sim.test", "names end in this")
    seeds: int = _setting(5, "hosts in the seed file, 0 for all; links lead to the others", 0)

    pages_mean: float = _setting(100.0, "mean pages of a host; the total is exact", 1)
    pages_sigma: float = _setting(2.08, "sigma of the lognormal of pages a host", 0, 4)
    pages_max: int = _setting(100_000, "most pages of a host", 1)
    page_bytes: float = _setting(4_700.0, "mean bytes of a page before compression", 200)
    bytes_sigma: float = _setting(2.146, "sigma of the lognormal of bytes a host", 0, 4)
    links_mean: float = _setting(6.0, "mean random links of a page within its host", 0, 200)
    outlinks_mean: float = _setting(0.5, "mean random links of a page to other hosts", 0, 50)
    islands: float = _setting(0.0, "share of hosts with a directory only others link to", 0, 1)
    island_chain: bool = _setting(False, "islands are linked from islands, four in a row")
    names_per_address: float = _setting(1.2, "mean host names of an address", 1, 1000)
    addresses: int = _setting(
        0, "addresses that every generated host is at; 0: as above", 0, 10_000
    )
    domains: int = _setting(0, "domains below --domain that hosts are in, in turns; 0: one", 0)
    address_per_s: float = _setting(0.0, "requests a second an address can answer; 0: any", 0)
    address_wait_s: float = _setting(5.0, "longest wait for an answer then; above it 429", 0)

    robots: tuple[str, ...] = _setting((), "KIND=WEIGHT: how often a kind of robots.txt occurs")
    trouble: tuple[str, ...] = _setting((), "KIND=RATE a page or KIND=COUNT in all; `all` is each")
    host_trouble: tuple[str, ...] = _setting((), "KIND=RATE a host or KIND=COUNT in all")
    trouble_scale: float = _setting(1.0, "multiplies the default rates; 0 is a calm web", 0)
    crawl_delay_s: float = _setting(2.0, "the Crawl-delay of hosts that ask for one", 0)
    retry_after_s: int = _setting(2, "the Retry-After of a 429", 0)
    rate_limit_ms: int = _setting(200, "least gap that hosts of kind rate-limited accept", 0)
    slow_s: float = _setting(10.0, "seconds over which a slow answer drips", 0)

    change_every_s: float = _setting(0.0, "mean seconds between changes of a page; 0: never", 0)
    change_share: float = _setting(0.5, "share of the pages that ever change by time", 0, 1)

    delay_ms: float = _setting(20.0, "mean delay to first byte between regions; 0: none", 0)
    bandwidth_kb_s: float = _setting(2_000.0, "KBytes a second within a region; 0: no limit", 0)
    spread: float = _setting(120.0, "bandwidth of the nearest over that of the farthest", 1)
    jitter: float = _setting(0.0, "random share of delay and time, not reproducible", 0, 1)

    compress_share: float = _setting(0.6, "share of hosts that compress when allowed", 0, 1)
    chunked_share: float = _setting(0.2, "share of pages sent chunked", 0, 1)
    keep_alive_share: float = _setting(0.9, "share of hosts that keep connections open", 0, 1)
    validators_share: float = _setting(0.85, "share of hosts with ETag and Last-Modified", 0, 1)
    dns_ttl_s: int = _setting(300, "time to live of DNS answers", 0)

    folder: tuple[str, ...] = _setting((), "NAME=DIR or NAME@REGION=DIR: real files as a host")
    folder_follow_symlinks: bool = _setting(True, "follow links that lead out of the folder")
    folder_listing: bool = _setting(True, "list a directory without index.html, else 404")

    def __post_init__(self) -> None:
        _check(self)
        if not NAME.fullmatch(self.domain):
            raise SettingError(f"--domain {self.domain}: write lower-case labels, as sim.test")

    def to_json(self) -> dict[str, Any]:
        """Return the options as JSON values."""
        return dataclasses.asdict(self)

    @classmethod
    def from_json(cls, values: dict[str, Any]) -> WorldOptions:
        """Return the options that `to_json` wrote."""
        lists = {name: tuple(value) for name, value in values.items() if isinstance(value, list)}
        return cls(**{**values, **lists})


@dataclass(frozen=True, slots=True, kw_only=True)
class ServeOptions:
    """Settings for serving a world; nothing here changes a page, except the port in its URLs."""

    port: int = _setting(0, "port of every host; 0: a free one", 0, 65535)
    dns_port: int = _setting(0, "port of the name server at 127.0.0.1; 0: a free one", 0, 65535)
    control_port: int = _setting(0, "port of the control at 127.0.0.1; 0: a free one", 0, 65535)
    log: str = _setting("", "file of the request log (JSON lines, appended)")
    write: str = _setting("", "folder for seeds.txt, hosts.json and addresses.txt")
    write_urls: bool = _setting(False, "also write each host's expected URLs into hosts.json")
    plan_only: bool = _setting(False, "write the plan and end")
    idle_s: float = _setting(60.0, "close a connection that asked nothing for so long", 0.1)
    until_eof: bool = _setting(False, "end when standard input closes (for tests)")

    def __post_init__(self) -> None:
        _check(self)
