"""What the manager could not be told is told when it can be, once, and in order."""

from __future__ import annotations

import json

import pytest

from launcher.installation import Journal
from launcher.update import deliver_reports
from tests.launcher.site import Centre, Site, archive

GONE = "http://127.0.0.1:9"


def waiting(site: Site) -> list[tuple[str, str, int]]:
    """Return outcome, step and how often of what waits."""
    path = site.installation.own / "untold.json"
    said = json.loads(path.read_bytes()) if path.exists() else []
    return [(one["outcome"], one["step"], one["times"]) for one in said]


def test_a_manager_that_was_away_hears_how_often(site: Site, centre: Centre) -> None:
    """Three nights without it are one line with a number; the next night brings the release too."""
    centre.publish("1.1")
    site.trust_key(GONE)
    for _ in range(3):
        assert site.update() == 1
    assert waiting(site) == [("unreached", "refresh", 3)]
    site.trust_key(centre.url)
    assert site.update() == 0
    assert waiting(site) == []
    assert [(one["outcome"], one["times"]) for one in centre.reports] == [
        ("unreached", 3),
        ("updated", 1),
    ]


def test_a_release_that_went_back_is_told_by_the_next_sync(site: Site, centre: Centre) -> None:
    """The manager went while the release was on trial: the agent has the launcher tell it."""
    centre.publish("1.1", archive("1.1", "'no such module'"))
    centre.deaf = True
    assert site.update() == 1
    assert waiting(site) == [("went-back", "sync", 1)]
    assert centre.reports == []
    assert deliver_reports(site.installation, Journal(site.installation, quiet=True)) == 0
    assert waiting(site) == [("went-back", "sync", 1)]
    centre.deaf = False
    assert deliver_reports(site.installation, Journal(site.installation, quiet=True)) == 0
    assert waiting(site) == []
    assert "no such module" in str(centre.reports[0]["detail"])


def test_what_waits_is_bounded_and_never_in_the_way(site: Site, centre: Centre) -> None:
    """Twenty at most; a report that is refused for good, or half a file, keeps nothing up."""
    centre.deaf = True
    for number in range(1, 26):
        centre.publish(f"1.{number}", archive(f"1.{number}", broken=True))
        assert site.update() == 1
    assert len(waiting(site)) == 20
    centre.deaf, centre.refuses = False, "1.7"
    centre.publish("1.30")
    assert site.update() == 0
    assert waiting(site) == []
    versions = [one["version"] for one in centre.reports]
    assert versions == [*(f"1.{number}" for number in range(8, 26)), "1.30"]
    (site.installation.own / "untold.json").write_text("half a")
    assert site.update() == 0
    assert "cannot be read" in site.log


@pytest.mark.parametrize("status", [400, 404, 407, 413, 422])
def test_what_a_front_refuses_is_told_later(site: Site, centre: Centre, status: int) -> None:
    """A 4xx without the manager's mark is nobody's last word (docs/adr/0145)."""
    centre.publish("1.1", archive("1.1", broken=True))
    centre.deaf = True
    assert site.update() == 1
    centre.deaf, centre.front = False, status
    assert deliver_reports(site.installation, Journal(site.installation, quiet=True)) == 0
    assert waiting(site) == [("failed", "install", 1)]
    centre.front = 0
    assert deliver_reports(site.installation, Journal(site.installation, quiet=True)) == 0
    assert waiting(site) == []
    assert [one["outcome"] for one in centre.reports] == ["failed"]
