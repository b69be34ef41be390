"""A segment that the centre damaged comes back from its agent: shipped commands, a real crawl."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.archive.test_collection import collected
from tests.e2e.fleet import Fleet, running_fleet
from tools.demo.system import CommandError, wait_for

pytestmark = [pytest.mark.e2e, pytest.mark.slow]


def scrub(fleet: Fleet) -> None:
    fleet.manager.prsm("archive", "scrub", "--now")


def check_deep(fleet: Fleet) -> None:
    """It ends with 1 and names what it found."""
    with pytest.raises(CommandError, match="segment_wrong_digest"):
        fleet.manager.prsm("check", "--deep")


def flip_a_byte(segment: Path) -> None:
    segment.chmod(0o600)
    with segment.open("r+b") as file:
        file.seek(segment.stat().st_size // 2)
        (before,) = file.read(1)
        file.seek(-1, 1)
        file.write(bytes([before ^ 0xFF]))


def remove(segment: Path) -> None:
    segment.unlink()


@pytest.mark.parametrize(
    ("damage", "find"),
    [(flip_a_byte, check_deep), (flip_a_byte, scrub), (remove, scrub)],
)
def test_a_damaged_segment_is_restored_by_its_agent(
    tmp_path: Path, damage: Callable[[Path], None], find: Callable[[Fleet], None]
) -> None:
    """The agent hears of it at its next sync, and the right bytes lie there under the same name."""
    with running_fleet(
        tmp_path, agents=1, hosts=3, regions=1, seeds=3, seed=4, pages_mean=6, pages_sigma=0.4,
        trouble_scale=0,
    ) as fleet:  # fmt: skip
        prsm, (agent,) = fleet.manager.prsm, fleet.agents
        fleet.run_round("random", 120)
        assert collected(fleet, agent.name)["state"] == "done"
        (segment,) = (fleet.manager.data / "archive" / "segments").rglob("*.warc.gz")
        right = segment.read_bytes()
        assert segment.name == f"{hashlib.sha256(right).hexdigest()}.warc.gz"
        assert prsm("archive", "problems") == []
        damage(segment)
        find(fleet)

        def asked() -> dict[str, Any] | None:
            orders = [one for one in prsm("collect", "orders") if one["condition"] == "full"]
            return orders[0] if orders else None

        order = wait_for("an order to send it again", asked, seconds=120)
        assert order["agent"] == agent.name
        wait_for(
            "the restored segment",
            lambda: segment.exists() and segment.read_bytes() == right,
            seconds=120,
        )
        wait_for("no problem", lambda: prsm("archive", "problems") == [], seconds=60)
        assert prsm("check", "--deep")["findings"] == []
        actions = {row["action"] for row in prsm("audit", "--limit", "200")}
        assert {"file.find-damaged", "collection.order", "segment.repair"} <= actions
