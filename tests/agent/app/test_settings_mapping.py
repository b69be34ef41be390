"""Every setting reaches the part that goes by it."""

from __future__ import annotations

import asyncio
import dataclasses
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from agent.app.startup.settings_mapping import (
    MOST_WORKERS,
    blocked_by,
    crawl_limits,
    fetch_options,
    page_limits,
    permit_margin_s,
    politeness,
    resolver_of,
    segment_info,
    worker_options,
)
from agent.modules.seen import STRUCTURES, make_seen
from agent.modules.seen.bloom import StableBloomLight, decrements
from agent.modules.seen.lru import Layered
from agent.settings import Settings
from agent.settings.settings_file import read_settings
from agent.settings.texts import CONTENT_CODINGS, SEEN_BY
from agent.settings.user_agent import user_agent, version
from shared.archive.content_coding import UNDERSTOOD
from shared.errors import SettingError
from shared.naming import AddressRules

SITE = Settings(home=Path("/nowhere"))

# Read where they are used, as they are, and not carried over to another part's options.
USED_AS_THEY_ARE = {
    "manager": None,  # the link's: client, back-off
    "windows": None,
    "reports": None,
    "collection": None,  # those of the process that sends
    "disk": None,
    "memory": set(),
    "robot": {"product_token"},
    "politeness": {"blocked_url_patterns"},
    "limits": {"server_list_bytes"},
    "network": {"month_bytes"},
    "dns": None,
    "pages": {"max_load_per_core"},
    "links": set(),
}


def changed(value: Any) -> Any:
    match value:
        case bool():
            return not value
        case int():
            return value + 1
        case float():
            return value / 2 if value else 1.0
        case str():
            return "127.0.0.9"
        case tuple():
            return value[:-1] if value else ("ping",)
    raise AssertionError(value)


def everything(settings: Settings) -> tuple[object, ...]:
    return (
        politeness(settings),
        crawl_limits(settings),
        fetch_options(settings),
        page_limits(settings),
        segment_info(settings, "prs1"),
        permit_margin_s(settings),
        worker_options(settings),
    )


def all_settings() -> list[tuple[str, str]]:
    found = []
    for group, own in USED_AS_THEY_ARE.items():
        if own is None:
            continue
        kept = getattr(SITE, group)
        found += [
            (group, field.name) for field in dataclasses.fields(kept) if field.name not in own
        ]
    return found


@pytest.mark.parametrize(("group", "name"), all_settings())
def test_each_setting_has_an_effect(group: str, name: str) -> None:
    """Changing a setting changes what some part is told."""
    before = getattr(SITE, group)
    after = dataclasses.replace(before, **{name: changed(getattr(before, name))})
    assert everything(dataclasses.replace(SITE, **{group: after})) != everything(SITE)


def test_all_groups_are_looked_at() -> None:
    """A new group of settings must be listed above."""
    groups = {field.name for field in dataclasses.fields(Settings)} - {"home"}
    assert groups == set(USED_AS_THEY_ARE)


def test_the_robot_says_who_it_is() -> None:
    """Token, version, a page about the crawl, a mail address."""
    robot = dataclasses.replace(SITE.robot, contact="a@b.jp", info_url="http://b.jp/robot")
    site = dataclasses.replace(SITE, robot=robot)
    assert user_agent(site) == f"PRS/{version()} (+http://b.jp/robot; a@b.jp)"
    assert fetch_options(site).from_address == "a@b.jp"


def test_there_is_a_page_worker_for_each_core_up_to_four() -> None:
    """Without a word of the site; what it says counts, none included."""
    assert 1 <= worker_options(SITE).workers <= MOST_WORKERS
    for count in (0, 1, 9):
        pages = dataclasses.replace(SITE.pages, workers=count)
        assert worker_options(dataclasses.replace(SITE, pages=pages)).workers == count


def test_fast_hosts_are_never_slower_than_others() -> None:
    """A site that shortens the interval need not shorten the fast one too."""
    quick = dataclasses.replace(SITE.politeness, interval_s=1.0)
    assert politeness(dataclasses.replace(SITE, politeness=quick)).fast_interval_s == 1.0


def test_blocked() -> None:
    """Any of the patterns, anywhere in the URL; none blocks nothing; no RE2 is refused."""
    blocked = blocked_by(("/private/", r"\.exe$"))
    assert blocked("http://a.jp/private/x")
    assert blocked("http://a.jp/x.exe")
    assert not blocked("http://a.jp/x.exe?y")
    assert not blocked_by(())("http://a.jp/")
    with pytest.raises(SettingError, match="is no RE2 pattern"):
        blocked_by(("(?=x)",))


def test_the_memories_that_may_be_set_are_those_that_there_are() -> None:
    """What may be set, and what dedup knows, is one list."""
    assert set(SEEN_BY) == set(STRUCTURES)


def filter_of(home: Path, *chosen: str) -> StableBloomLight:
    """Return the filter behind the LRU that settings ask for."""
    named = ("memory.seen_urls=1024", 'memory.seen_url_filter="lru+sbfl"')
    seen = make_seen(crawl_limits(read_settings(home, [*named, *chosen])).seen)
    assert isinstance(seen, Layered)
    assert isinstance(seen.behind, StableBloomLight)
    return seen.behind


def test_the_points_of_seed_003_can_be_chosen(tmp_path: Path) -> None:
    """Figures 9 and 10: 0.001% with k = 8 and 1% with k = 4; formula 3 gives what fades."""
    figure_9 = filter_of(tmp_path)
    assert (figure_9.counters, figure_9.p) == (1 << 14, decrements(1e-5, 8, 1 << 14))
    figure_10 = filter_of(
        tmp_path,
        "memory.seen_url_hashes=4",
        "memory.seen_url_false_positive_rate=0.01",
        "memory.seen_url_counters=100000",
    )
    assert (figure_10.counters, figure_10.p) == (1 << 16, decrements(0.01, 4, 1 << 16))
    keys = np.random.default_rng(1).integers(0, 2**63, 200_000).astype(np.uint64)
    for part in np.array_split(keys[:120_000], 100):
        figure_10.add(part)
    assert 0 < int(figure_10.knows(keys[120_000:]).sum()) <= 0.01 * 80_000 * 1.1


@pytest.mark.parametrize("structure", ["lru+sbfl", "lru+rotating"])
@pytest.mark.parametrize("hashes", [0, 1, 32])
@pytest.mark.parametrize("counters", [0, 1, 1 << 17])
@pytest.mark.parametrize("rate", [1e-9, 0.5])
def test_every_filter_that_may_be_set_works(
    structure: str, hashes: int, counters: int, rate: float
) -> None:
    """What was met last is known; the number of counters is not below what a filter needs."""
    memory = dataclasses.replace(
        SITE.memory,
        seen_urls=64,
        seen_url_filter=structure,
        seen_url_hashes=hashes,
        seen_url_counters=counters,
        seen_url_false_positive_rate=rate,
    )
    seen = make_seen(crawl_limits(dataclasses.replace(SITE, memory=memory)).seen)
    for start in range(0, 4096, 128):
        keys = [key * 0x9E37_79B9_7F4A_7C15 % 2**62 for key in range(start, start + 128)]
        seen.meet(keys)
        assert seen.meet(keys[-64:]) == [True] * 64


def test_asks_only_for_codings_that_are_taken_off() -> None:
    """What may be set, and what the work on pages understands, is one list."""
    assert CONTENT_CODINGS == UNDERSTOOD
    bare = dataclasses.replace(SITE, network=dataclasses.replace(SITE.network, content_codings=()))
    assert fetch_options(SITE).accept_encoding == "gzip, deflate"
    assert fetch_options(bare).accept_encoding == "identity"


@pytest.mark.parametrize(
    ("source", "proxy", "wanted"),
    [
        ("", "", (1, 1)),
        ("192.0.2.7", "", (1, 0)),
        ("2001:db8::7", "", (0, 1)),
        ("2001:db8::7", "http://proxy.example:3128", (1, 1)),
    ],
)
def test_hosts_have_addresses_of_the_family_that_requests_leave_from(
    source: str, proxy: str, wanted: tuple[int, int]
) -> None:
    """A source address is of one family, and so are the hosts that it reaches."""
    network = dataclasses.replace(SITE.network, source_address=source, proxy=proxy)
    settings = dataclasses.replace(SITE, network=network)

    async def look_up() -> tuple[int, int]:
        resolver = resolver_of(settings, AddressRules())
        hosts = ("http://133.9.9.1:80/", "http://[2400:9::1]:80/")
        four, six = [len((await resolver.look_up(host)).addresses) for host in hosts]
        await resolver.close()
        return four, six

    assert asyncio.run(look_up()) == wanted
