"""The manager can ask for less, never for more."""

from __future__ import annotations

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from agent.settings import Settings, tightened
from agent.settings.groups.network import NetworkSettings
from agent.settings.groups.politeness import PolitenessSettings
from shared.wire import sync

HOME = Path("/nowhere")
seconds = st.floats(0, 1000)
wishes = st.builds(
    sync.Settings,
    interval_s=st.none() | seconds,
    parallel_hosts=st.none() | st.integers(1, 10_000),
    bytes_per_s=st.none() | st.integers(1, 10**9),
    blocked=st.none() | st.lists(st.sampled_from("abcd"), max_size=4),
)
sites = st.builds(
    Settings,
    home=st.just(HOME),
    politeness=st.builds(
        PolitenessSettings,
        interval_s=seconds,
        fast_host_interval_s=seconds,
        blocked_url_patterns=st.lists(st.sampled_from("abcd"), unique=True).map(tuple),
    ),
    network=st.builds(
        NetworkSettings, parallel_hosts=st.integers(1, 10_000), bytes_per_s=st.integers(0, 10**9)
    ),
)


@given(sites, wishes)
def test_never_looser(local: Settings, asked: sync.Settings) -> None:
    """Whatever is asked, nothing becomes faster, wider or less blocked; the rest stays."""
    result = tightened(local, asked)
    assert result.politeness.interval_s >= local.politeness.interval_s
    assert result.politeness.fast_host_interval_s >= local.politeness.fast_host_interval_s
    assert result.network.parallel_hosts <= local.network.parallel_hosts
    if local.network.bytes_per_s:
        assert 0 < result.network.bytes_per_s <= local.network.bytes_per_s
    assert set(local.politeness.blocked_url_patterns) <= set(result.politeness.blocked_url_patterns)
    assert (result.windows, result.robot, result.manager) == (
        local.windows,
        local.robot,
        local.manager,
    )
    assert result.dns.allowed_networks == local.dns.allowed_networks
    assert tightened(result, asked) == result


@given(sites)
def test_no_wish_changes_nothing(local: Settings) -> None:
    """A manager without wishes leaves the site's settings as they are."""
    assert tightened(local, sync.Settings()) == local


def test_what_is_asked_is_done() -> None:
    """Stricter wishes come into force, for fast hosts too."""
    asked = sync.Settings(interval_s=60, parallel_hosts=10, bytes_per_s=1000, blocked=("x",))
    result = tightened(Settings(home=HOME), asked)
    assert result.politeness.interval_s == 60
    assert result.politeness.fast_host_interval_s == 60
    assert result.politeness.blocked_url_patterns == ("x",)
    assert (result.network.parallel_hosts, result.network.bytes_per_s) == (10, 1000)
