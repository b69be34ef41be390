"""Part `versions`: a site of an older version takes this tree's release, and can go back."""

from __future__ import annotations

from pathlib import Path

from tools.bundle.chosen import Platform
from tools.demo.system import wait_for
from tools.show_site.centre import AGENT, Centre
from tools.show_site.partner import LONG_S, PRS, Partner, print_title
from tools.show_site.releases import FIRST, NEXT, make_next, make_without_sync

__all__ = ["VersionChange"]

BROKEN = "1.0.5"
"""Between the two: a site takes no version that is older than one that it tried."""


class VersionChange:
    """Updates and returns of one home: its prs.toml, ledger and reports serve both versions."""

    def __init__(self, centre: Centre, partner: Partner, first: Path, platform: Platform) -> None:
        """Take the site. first: the archive of the older version, which is installed."""
        self._centre = centre
        self._partner = partner
        self._first = first
        self._platform = platform

    def tell(self) -> dict[str, object]:
        """Run it; return the versions that synced, in order. Raises StoryError, TimeoutError."""
        following = make_next(self._first, self._platform)
        broken = make_without_sync(following, BROKEN)
        print_title(f"{BROKEN}, of this tree, never completes a sync: {FIRST} works again")
        self._centre.publish(self._first, FIRST)
        self._centre.publish(broken, BROKEN)
        self._partner.types(f"{PRS} update", code=1, most=14)
        self._works_as(FIRST)
        self._centre.prsm("release", "halt", BROKEN)
        print_title(f"{NEXT}, of this tree: the agent continues with its prs.toml and its ledger")
        self._centre.publish(following, NEXT)
        self._partner.types(f"{PRS} update", most=14)
        self._works_as(NEXT)
        self._partner.types(f"{PRS} doctor", code=None, most=30)
        print_title(f"a person at the site goes back to {FIRST} by hand")
        self._partner.types(f"{PRS} stop")
        unpacked = self._first.name.removesuffix(".tar.gz")
        self._partner.types(f"{unpacked}/install --older")
        self._partner.start(f"{PRS} run")
        self._works_as(FIRST)
        print_title(f"and forward again to {NEXT}")
        self._partner.types(f"{PRS} update --again", most=14)
        self._works_as(NEXT)
        self._centre.prsm("release", "updates", AGENT, show=True, most=20)
        return {"synced": [FIRST, NEXT, FIRST, NEXT]}

    def _works_as(self, version: str) -> None:
        """Wait until the agent of a version has synced and its logs are accepted."""
        self._partner.check_runs(version)
        self._centre.wait_for_sync(version)
        wait_for("the end of the round before", self._is_idle, seconds=LONG_S, every_s=1.0)
        before = self._reports()
        self._centre.prsm("rounds", "start", "--method", "random")
        wait_for(
            f"a crawl log of {version}",
            lambda: self._reports() > before,
            seconds=LONG_S,
            every_s=1.0,
        )
        self._partner.types(f"{PRS} status", most=8)
        self._centre.prsm("check", show=True)

    def _is_idle(self) -> bool:
        newest = self._centre.row("SELECT state FROM rounds ORDER BY number DESC LIMIT 1")
        return str(newest[0]) == "finished"

    def _reports(self) -> int:
        return int(self._centre.row("SELECT count(*) FROM reports WHERE lines > 0")[0])
