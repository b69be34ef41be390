"""Draw a world from its options: the one place where rates become hosts.

Each decision has a separate draw, keyed by its subject; so changing one option does not
reshuffle the rest of the world.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from itertools import accumulate
from pathlib import Path

from shared.errors import SettingError
from simweb.sites.chance import draw, draw64, normal, shuffled, whole
from simweb.sites.distance import HOST_NETWORK
from simweb.sites.options import NAME, WorldOptions
from simweb.sites.plan import HostPlan, World
from simweb.sites.robots import ROBOTS_KINDS
from simweb.sites.sizes import bytes_per_page, pages_per_host
from simweb.sites.trouble import HOST_TROUBLE, PAGE_TROUBLE, Amount, amounts

__all__ = ["build_world"]

_CODINGS = ("gzip", "gzip", "gzip", "gzip", "br", "br", "deflate", "deflate-raw")
_CHARSETS = ("utf-8",) * 8 + ("shift_jis", "euc-jp", "iso-8859-1", "utf-8-unlabelled")
_CHANGE_SIGMA = 1.0  # some hosts change often, most seldom
_PRIVATE_SHARE = 0.05  # private pages for each page, at least one


def build_world(options: WorldOptions) -> World:
    """Return the world of these options. Raises SettingError for options that make none."""
    if options.hosts == 0 and not options.folder:
        raise SettingError("--hosts = 0 and no --folder: nothing to serve; give one of them")
    hosts = _generated(options) if options.hosts else []
    return World(options, hosts + list(_folders(options, hosts)))


def _generated(options: WorldOptions) -> list[HostPlan]:
    seed, count = options.seed, options.hosts
    total = round(options.pages_mean * count)
    sizes = pages_per_host(count, total, options.pages_sigma, options.pages_max, seed)
    troubles = _host_troubles(options)
    robots = _robots_kinds(options)
    page_trouble = _page_troubles(options, sizes)
    regions = [int(draw(seed, "region", index) * options.regions) for index in range(count)]
    addresses = _Addresses(options)
    hosts = []
    for index in range(count):
        key = draw64(seed, "host", index)
        island = _island(options, sizes[index], index)
        kind = robots[index]
        hosts.append(
            HostPlan(
                index=index,
                name=_name(options, index, regions[index]),
                address=(place := addresses.next(regions[index], index, troubles.get(index, "")))[
                    0
                ],
                more_addresses=place[1:],
                region=regions[index],
                key=key,
                pages=sizes[index] + island,
                island_pages=island,
                page_bytes=bytes_per_page(
                    options.page_bytes, options.pages_sigma, options.bytes_sigma, key
                ),
                leaves=(*page_trouble[index], *_private(kind, sizes[index])),
                trouble=troubles.get(index, ""),
                robots=kind,
                crawl_delay_s=options.crawl_delay_s if kind == "crawl-delay" else 0.0,
                coding=_draw_coding(options, index),
                charset=_CHARSETS[int(draw(seed, "charset", index) * len(_CHARSETS))],
                keep_alive=draw(seed, "keep-alive", index) < options.keep_alive_share,
                validators=draw(seed, "validators", index) < options.validators_share,
                change_every_s=_change_every(options, index),
            )
        )
    return hosts


def _name(options: WorldOptions, index: int, region: int) -> str:
    if options.domains:
        return f"www{index:04d}.d{index % options.domains:04d}.{options.domain}"
    return f"www{index:04d}.region{region}.{options.domain}"


def _folders(options: WorldOptions, before: list[HostPlan]) -> Iterable[HostPlan]:
    counters = _Addresses(options)
    for host in before:
        counters.seen(host)
    for number, text in enumerate(options.folder):
        name, region, folder = _folder_option(options, text)
        index = len(before) + number
        if any(host.name == name for host in before):
            raise SettingError(f"--folder {text}: a generated host has this name; choose another")
        yield HostPlan(
            index=index,
            name=name,
            address=counters.next(region, index, "folder")[0],
            region=region,
            key=draw64(options.seed, "folder", name),
            robots="file",
            coding=_draw_coding(options, index),
            keep_alive=True,
            validators=True,
            folder=str(folder),
        )


def _folder_option(options: WorldOptions, text: str) -> tuple[str, int, Path]:
    label, equals, directory = text.partition("=")
    name, at, region = label.lower().partition("@")
    if not (NAME.fullmatch(name) and equals and directory) or (at and not region.isdigit()):
        raise SettingError(f"--folder {text}: write NAME=DIR or NAME@REGION=DIR")
    number = int(region) if at else int(draw(options.seed, "folder", name) * options.regions)
    if number >= options.regions:
        raise SettingError(f"--folder {text}: region {number} of --regions {options.regions}")
    folder = Path(directory).resolve()
    if not folder.is_dir():
        raise SettingError(f"--folder {text}: no directory {folder}")
    return name if "." in name else f"{name}.{options.domain}", number, folder


class _Addresses:
    """Addresses by region, one after the other; some are shared by several names.

    Where `--addresses` says how many there are, they are the first ones of region 0, and hosts
    name them in another order.
    """

    def __init__(self, options: WorldOptions) -> None:
        self._options = options
        self._used = [options.addresses] + [0] * (options.regions - 1)
        self._shared: list[list[str]] = [[] for _ in range(options.regions)]

    def next(self, region: int, index: int, trouble: str) -> tuple[str, ...]:
        """Return the addresses of the next host."""
        seed, shared = self._options.seed, self._shared[region]
        joins = draw(seed, "shares", index) < 1 - 1 / self._options.names_per_address
        alone = trouble in ("refused", "folder")
        if self._options.addresses and not alone:
            count = self._options.addresses
            return tuple(_address(0, (index + other) % count) for other in range(count))
        if joins and shared and not alone:
            return (shared[int(draw(seed, "shares-with", index) * len(shared))],)
        number = self._used[region]
        self._used[region] += 1
        address = _address(region, number)
        if not alone:
            shared.append(address)
        return (address,)

    def seen(self, host: HostPlan) -> None:
        """Count an address that an earlier host has."""
        _, network, high, low = map(int, host.address.split("."))
        region = network - HOST_NETWORK
        self._used[region] = max(self._used[region], high * 250 + low)


def _address(region: int, number: int) -> str:
    return f"127.{HOST_NETWORK + region}.{number // 250}.{number % 250 + 1}"


def _host_troubles(options: WorldOptions) -> dict[int, str]:
    """Return the troubled hosts; host 0 is never one of them."""
    given = amounts(HOST_TROUBLE, options.host_trouble, options.trouble_scale, "--host-trouble")
    order = [index for index in shuffled(options.hosts, options.seed, "troubled") if index]
    troubles: dict[int, str] = {}
    for kind, amount in given.items():
        wanted = amount.count
        if wanted is None:
            wanted = whole(amount.rate * options.hosts, options.seed, "host-trouble", kind)
        if wanted > len(order) and amount.count is not None:
            raise SettingError(
                f"--host-trouble {kind}={wanted}: only {len(order)} hosts are left; "
                "the first host stays healthy; raise --hosts"
            )
        for index in order[:wanted]:
            troubles[index] = kind
        order = order[wanted:]
    return troubles


def _page_troubles(options: WorldOptions, sizes: list[int]) -> list[tuple[tuple[str, int], ...]]:
    """Return, for each host, how many leaves of each kind it has; kinds without any left out."""
    given = amounts(PAGE_TROUBLE, options.trouble, options.trouble_scale, "--trouble")
    ends = list(accumulate(sizes))
    found: list[dict[str, int]] = [{} for _ in sizes]
    for kind, amount in given.items():
        for index, size in enumerate(sizes):
            if amount.count is None:
                number = whole(amount.rate * size, options.seed, "trouble", kind, index)
                if number:
                    found[index][kind] = number
        for index in _placed(amount, ends, options.seed, kind):
            found[index][kind] = found[index].get(kind, 0) + 1
    return [tuple(kinds.items()) for kinds in found]


def _placed(amount: Amount, ends: list[int], seed: int, kind: str) -> Iterable[int]:
    """Yield the host of each of a counted kind, hosts drawn by their pages."""
    for number in range(amount.count or 0):
        page = int(draw(seed, "placed", kind, number) * ends[-1])
        yield next(index for index, end in enumerate(ends) if page < end)


def _robots_kinds(options: WorldOptions) -> list[str]:
    weights = dict(ROBOTS_KINDS)
    for text in options.robots:
        kind, _, value = text.partition("=")
        try:
            weight = float(value)
        except ValueError:
            weight = -1.0
        if kind not in weights or weight < 0:
            raise SettingError(f"--robots {text}: write KIND=WEIGHT; kinds: {', '.join(weights)}")
        weights[kind] = weight
    if not sum(weights.values()):
        raise SettingError("--robots: all weights are 0; leave one kind")
    kinds, ends = list(weights), list(accumulate(weights.values()))
    chosen = []
    for index in range(options.hosts):
        at = draw(options.seed, "robots", index) * ends[-1]
        chosen.append(kinds[next(slot for slot, end in enumerate(ends) if at < end)])
    if chosen[0] in ("error", "forbid", "others"):
        chosen[0] = "disallow"  # host 0 is healthy: every other host hangs on it
    return chosen


def _private(kind: str, pages: int) -> tuple[tuple[str, int], ...]:
    if kind in ("none", "allow"):
        return ()
    count = max(1, round(pages * _PRIVATE_SHARE))
    return (("private", count), ("private-open", (count + 1) // 2))


def _island(options: WorldOptions, pages: int, index: int) -> int:
    has = draw(options.seed, "island", index) < options.islands
    return max(1, pages // 10) if has else 0


def _draw_coding(options: WorldOptions, index: int) -> str:
    if draw(options.seed, "compresses", index) >= options.compress_share:
        return ""
    return _CODINGS[int(draw(options.seed, "coding", index) * len(_CODINGS))]


def _change_every(options: WorldOptions, index: int) -> float:
    factor = math.exp(_CHANGE_SIGMA * normal(options.seed, "change", index))
    return options.change_every_s * factor
