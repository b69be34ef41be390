"""State that changes while a web runs, at a clock that the test moves."""

from __future__ import annotations

import pytest

from shared.errors import SettingError
from simweb.sites.options import WorldOptions
from tests.simweb.conftest import Served, served


def world(**options: object) -> Served:
    """Return a small world."""
    values = {"hosts": 6, "pages_mean": 200, "trouble_scale": 0}
    return served(WorldOptions(**{**values, **options}))  # type: ignore[arg-type]  # by field


def versions(web: Served, host: int = 0) -> list[int]:
    """Return the versions of a host's first 100 pages."""
    plan = web.world.hosts[host]
    return [web.running.version_of(plan, page)[0] for page in range(100)]


def test_pages_stay_unless_told_otherwise() -> None:
    """Without --change-every nothing changes, however long it runs."""
    web = world()
    web.clock.now_s += 10**9
    assert versions(web) == [0] * 100


def test_pages_start_at_version_0_with_an_old_date() -> None:
    """Also where they change by time."""
    web = world(change_every_s=60, change_share=1)
    assert versions(web) == [0] * 100
    _, since = web.running.version_of(web.world.hosts[0], 0)
    assert since < web.clock.now_s


def test_pages_change_at_their_period() -> None:
    """Over ten periods a page has ten versions more, each with its date; some pages never do."""
    web = world(change_every_s=60, change_share=0.5)
    plan = web.world.hosts[0]
    web.clock.now_s += 10 * plan.change_every_s
    found = versions(web)
    changed = [version for version in found if version]
    assert 30 < len(changed) < 70
    assert set(changed) <= {10, 11}
    for page in range(100):
        version, since = web.running.version_of(plan, page)
        if version:
            assert web.clock.now_s - plan.change_every_s - 1 <= since <= web.clock.now_s


def test_a_command_changes_a_share_of_the_pages_of_a_host() -> None:
    """Twice the command, twice the draw; other hosts stay."""
    web = world()
    web.clock.now_s += 100
    web.running.change(0.3, web.world.hosts[0])
    first = versions(web)
    assert 15 < sum(first) < 45
    web.running.change(0.3, web.world.hosts[0])
    assert max(versions(web)) == 2
    assert versions(web, host=1) == [0] * 100
    web.running.change(1.0, None)
    assert min(versions(web, host=1)) == 1


@pytest.mark.parametrize("share", [0, -1, 1.5])
def test_an_impossible_share_is_refused(share: float) -> None:
    """A share is over 0 and at most 1."""
    with pytest.raises(SettingError, match="share"):
        world().running.change(share, None)


def test_unknown_faults_are_refused() -> None:
    """With the list of those that exist."""
    web = world()
    with pytest.raises(SettingError, match="nxdomain"):
        web.running.set_fault(web.world.hosts[0], "sick")


def test_the_pace_that_a_host_accepts_is_kept_by_client() -> None:
    """Another client may ask at once, the same one may not."""
    web = world()
    host = web.world.hosts[0]
    assert not web.running.too_fast("a", host, 0.2)
    assert not web.running.too_fast("b", host, 0.2)
    web.clock.now_s += 0.1
    assert web.running.too_fast("a", host, 0.2)
    web.clock.now_s += 0.3
    assert not web.running.too_fast("a", host, 0.2)
