"""Worlds are functions of their options, and every host is found by links."""

from __future__ import annotations

import dataclasses
import statistics
from collections import Counter
from pathlib import Path

import pytest

from shared.errors import SettingError
from shared.naming.registrable_domain import registrable_domain
from simweb.sites.builder import build_world
from simweb.sites.distance import Pace
from simweb.sites.options import WorldOptions
from simweb.sites.pages import page_html
from simweb.sites.plan import World

KNOWN = [
    ("www0000.region1.sim.test", "127.21.0.1", 10, "disallow"),
    ("www0001.region3.sim.test", "127.23.0.1", 1, "disallow"),
    ("www0002.region7.sim.test", "127.27.0.1", 1, "none"),
    ("www0003.region0.sim.test", "127.20.0.1", 33, "none"),
    ("www0004.region4.sim.test", "127.24.0.1", 5, "none"),
]


def rows(world: World) -> list[object]:
    """Return all that is decided about the hosts."""
    return [dataclasses.astuple(host) for host in world.hosts]


def test_the_same_options_give_the_same_world() -> None:
    """Two builds agree on every host, every link and every byte."""
    options = WorldOptions(hosts=40, seed=11, islands=0.3, pages_mean=20)
    one, other = build_world(options), build_world(options)
    assert rows(one) == rows(other)
    assert one.found_on == other.found_on
    for host in one.hosts[:10]:
        pages = [page_html(world, host, host.pages - 1, 3, 8000) for world in (one, other)]
        assert pages[0] == pages[1]


def test_another_seed_gives_another_world() -> None:
    """The seed decides: sizes, regions and keys differ."""
    assert rows(build_world(WorldOptions(seed=1))) != rows(build_world(WorldOptions(seed=2)))


def test_a_known_world_stays_what_it_was() -> None:
    """A seed written down once names the same world in every later version."""
    world = build_world(WorldOptions(hosts=5, seed=1, pages_mean=10))
    found = [(host.name, host.address, host.pages, host.robots) for host in world.hosts]
    assert found == KNOWN


def test_one_option_does_not_reshuffle_the_rest() -> None:
    """A world with other trouble has the same sizes, regions and names."""
    calm = build_world(WorldOptions(trouble_scale=0))
    troubled = build_world(WorldOptions(trouble_scale=5))
    assert [(h.name, h.pages, h.coding) for h in calm.hosts] == [
        (h.name, h.pages, h.coding) for h in troubled.hosts
    ]


@pytest.mark.parametrize("seed", range(5))
def test_links_from_the_seeds_lead_to_every_host(seed: int) -> None:
    """Following planned links between hosts, from seeds over healthy hosts only, finds all."""
    world = build_world(WorldOptions(hosts=120, seed=seed, seeds=3, trouble_scale=4))
    found = {host.index for host in world.seeds}
    waiting = list(found)
    for index in waiting:
        host = world.hosts[index]
        if not host.healthy:
            continue
        for page, link in world.planned_outlinks(host):
            assert page < host.pages - host.island_pages
            assert link in world.outlinks(host, page, 0)
            if link.host not in found:
                found.add(link.host)
                waiting.append(link.host)
    assert found == set(range(120))


def test_every_island_is_linked_from_another_host() -> None:
    """An island's index page is a planned link of a healthy host that is not its own."""
    world = build_world(WorldOptions(hosts=60, seed=3, islands=1.0))
    linked = {
        (link.host, link.path)
        for host in world.hosts
        for _, link in world.planned_outlinks(host)
        if link.host != host.index and link.path != "/"
    }
    for host in world.hosts:
        if host.healthy:
            site = world.site(host)
            assert site.island is not None
            assert (host.index, site.path_of(site.island)) in linked


def test_sizes_are_those_of_the_source() -> None:
    """6,500 hosts: the exact total, the median of 82, 346 KB a host, 42% of bytes in the top 1%."""
    world = build_world(WorldOptions(hosts=6_500, pages_mean=716, regions=17))
    pages = sorted(host.pages for host in world.hosts)
    volumes = sorted(host.pages * host.page_bytes for host in world.hosts)
    assert sum(pages) == 6_500 * 716
    assert 70 <= statistics.median(pages) <= 95
    assert 280_000 <= statistics.median(volumes) <= 420_000
    assert 0.33 <= sum(volumes[-65:]) / sum(volumes) <= 0.50


def test_distances_spread_as_in_the_source() -> None:
    """Of 17 regions the fastest is tens of times faster than the slowest, for a typical host."""
    world = build_world(WorldOptions(hosts=1_000, regions=17))
    ratios = []
    for host in world.hosts:
        paces = [world.distances.pace(region, host.region, host.index) for region in range(17)]
        times = [50 * pace.transfer_s(4_700) for pace in paces]
        ratios.append(max(times) / min(times))
    assert 20 <= statistics.median(ratios) <= 100
    assert min(ratios) >= 2


def test_addresses_tell_the_region_and_some_have_several_names() -> None:
    """127.(20+R).x.y holds hosts of region R; the mean number of names is as asked."""
    world = build_world(WorldOptions(hosts=1_000, names_per_address=2.0))
    assert all(host.address.startswith(f"127.{20 + host.region}.") for host in world.hosts)
    names = Counter(host.address for host in world.hosts)
    assert 1.7 <= statistics.mean(names.values()) <= 2.3


def test_a_refused_host_is_alone_at_its_address() -> None:
    """No healthy host is refused along with another."""
    options = WorldOptions(hosts=200, names_per_address=5, host_trouble=("refused=20",))
    world = build_world(options)
    names = Counter(host.address for host in world.hosts)
    refused = [host for host in world.hosts if host.trouble == "refused"]
    assert len(refused) == 20
    assert all(names[host.address] == 1 for host in refused)
    assert not {host.address for host in refused} & set(world.addresses())


def test_counts_of_trouble_are_exact() -> None:
    """KIND=N puts exactly N of a kind into the world, and `all` does so for every kind."""
    options = WorldOptions(
        hosts=50, trouble_scale=0, trouble=("all=3", "trap=1"), host_trouble=("hang=4",)
    )
    world = build_world(options)
    leaves: Counter[str] = Counter()
    for host in world.hosts:
        leaves.update(dict(host.leaves))
    assert leaves["redirect"] == leaves["bomb"] == 3
    assert leaves["trap"] == 1
    assert Counter(host.trouble for host in world.hosts) == {"hang": 4, "": 46}


def test_a_calm_web_has_no_trouble() -> None:
    """--trouble-scale 0 leaves private pages only, and no host in trouble."""
    world = build_world(WorldOptions(trouble_scale=0))
    assert {kind for h in world.hosts for kind, _ in h.leaves} <= {"private", "private-open"}
    assert not any(host.trouble for host in world.hosts)


def test_seeds_are_healthy_and_as_many_as_asked() -> None:
    """Only healthy hosts are seeds, unless all hosts are."""
    world = build_world(WorldOptions(hosts=50, seeds=7, trouble_scale=10))
    assert len(world.seeds) == 7
    assert all(host.healthy for host in world.seeds)
    assert len(build_world(WorldOptions(hosts=50, seeds=0)).seeds) == 50


def test_folders_are_hosts_and_seeds(tmp_path: Path) -> None:
    """A folder gets a name in the domain, an address of its own, and a place in the seed file."""
    options = WorldOptions(hosts=10, folder=(f"docs@2={tmp_path}", f"a.example={tmp_path}"))
    world = build_world(options)
    docs, other = world.hosts[10:]
    assert (docs.name, docs.region, other.name) == ("docs.sim.test", 2, "a.example")
    assert {docs, other} <= set(world.seeds)
    addresses = [host.address for host in world.hosts]
    assert addresses.count(docs.address) == addresses.count(other.address) == 1


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"hosts": 0}, "nothing to serve"),
        ({"hosts": -1}, "--hosts = -1: must be >= 0; default 300"),
        ({"pages_mean": 10, "pages_max": 5}, "--pages-max"),
        ({"trouble": ("redirct=1",)}, "did you mean redirect?"),
        ({"trouble": ("redirect=-1",)}, "KIND=0.01"),
        ({"host_trouble": ("hang=300",)}, "hosts are left"),
        ({"robots": ("nothing=1",)}, "KIND=WEIGHT"),
        ({"folder": ("docs",)}, "NAME=DIR"),
        ({"folder": ("docs=/no/such/place",)}, "no directory"),
        ({"folder": ("docs@8=/",)}, "region 8 of --regions 8"),
    ],
)
def test_options_that_make_no_world_are_refused(options: dict[str, object], words: str) -> None:
    """The message names the option, its value and the remedy."""
    with pytest.raises(SettingError, match=words.replace("?", r"\?")):
        build_world(WorldOptions(**options))  # type: ignore[arg-type]  # one wrong value each


def test_options_survive_json() -> None:
    """hosts.json holds enough to build the same world again."""
    options = WorldOptions(hosts=3, trouble=("redirect=1",), page_bytes=5_000)
    assert WorldOptions.from_json(options.to_json()) == options


def test_a_pace_ends_when_delay_and_bandwidth_say() -> None:
    """The pieces add up, and the last leaves after delay + size / bandwidth."""
    pieces = Pace(0.5, 10_000).schedule(25_000)
    assert sum(size for _, size in pieces) == 25_000
    assert pieces[-1][0] == pytest.approx(0.5 + 2.5)
    assert pieces[0][0] == pytest.approx(0.5 + 0.146)
    assert Pace(0.25, float("inf")).schedule(9) == [(0.25, 9)]


def test_all_hosts_share_some_addresses_and_are_in_domains() -> None:
    """Each is the first of as many; only a refused host and a folder have another address."""
    options = WorldOptions(
        hosts=60, addresses=2, domains=25, domain="jp", host_trouble=("refused=2",), robots=()
    )
    world = build_world(options)
    refused = {host.address for host in world.hosts if host.trouble == "refused"}
    shared = Counter(host.address for host in world.hosts if host.trouble != "refused")
    assert set(shared) == {"127.20.0.1", "127.20.0.2"}
    assert set(world.addresses()) == set(shared)
    healthy = [host for host in world.hosts if host.trouble != "refused"]
    assert all({host.address, *host.more_addresses} == set(shared) for host in healthy)
    assert max(shared.values()) - min(shared.values()) <= 2
    assert len(refused) == 2
    assert not refused & set(shared)
    assert len({registrable_domain(host.url(80)) for host in world.hosts}) == 25
