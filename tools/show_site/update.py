"""Second part: releases that come, one good and five that must not be run."""

from __future__ import annotations

from pathlib import Path

from tools.demo.system import wait_for
from tools.show_site.centre import AGENT, Centre
from tools.show_site.partner import LONG_S, PRS, Partner, StoryError, print_title
from tools.show_site.releases import (
    FIRST,
    NEXT,
    NO_LAUNCHER,
    NO_SYNC,
    TAMPERED,
    make_others,
)

__all__ = ["Update"]

INVENTED = "6.6.6"


class Update:
    """The updates that the launcher makes by itself."""

    def __init__(self, centre: Centre, partner: Partner, first: Path) -> None:
        self._centre = centre
        self._partner = partner
        self._first = first

    def tell(self) -> dict[str, object]:
        """Run it; return what held. Raises StoryError, TimeoutError."""
        made = make_others(self._first)
        print_title(f"{NEXT}: good, ordered by the manager while the agent of {FIRST} works")
        self._follow(made[NEXT])
        print_title(f"{NO_SYNC}: starts, and never completes a sync: it goes back by itself")
        self._centre.publish(made[NO_SYNC], NO_SYNC)
        self._goes_nowhere("back: current -> versions/", f"back: current -> {NEXT}")
        print_title("the next night: it is not tried again")
        self._goes_nowhere(f"{NO_SYNC} went back before")
        print_title(f"{NO_LAUNCHER}: its launcher does not start, so it is never switched to")
        self._centre.publish(made[NO_LAUNCHER], NO_LAUNCHER)
        self._goes_nowhere(f"the launcher of {NO_LAUNCHER} ended with 1")
        print_title("forged: signed by a stranger; the centre itself refuses")
        if "not signed by enough keys" not in self._centre.forge(made[TAMPERED], TAMPERED):
            raise StoryError("a stranger's signature was refused for another reason")
        print_title("forged: the manager is in wrong hands, and changes a file")
        self._centre.publish(made[TAMPERED], TAMPERED)
        self._centre.tamper(TAMPERED)
        self._goes_nowhere("not genuine")
        print_title("forged: the manager is in wrong hands, and offers an unsigned release")
        self._centre.invent(INVENTED)
        self._goes_nowhere("is offered, but not signed")
        self._centre.forget(INVENTED)
        print_title("old: an earlier release, signed well, with the hole that was mended")
        self._offer_old()
        print_title("the manager is away while the site looks: told with the next sync")
        self._away()
        self._centre.prsm("release", "updates", AGENT, show=True, most=20)
        return {
            "updated": NEXT,
            "went_back": NO_SYNC,
            "refused": 5,
            "runs": self._partner.check_runs(NEXT),
        }

    def _follow(self, bundle: Path) -> None:
        self._centre.publish(self._first, FIRST)
        self._centre.publish(bundle, NEXT)
        self._centre.prsm("agents", "update", AGENT, show=True)
        self._centre.wait_for_sync(NEXT)
        self._partner.sees("the verdict", f"tail -n 3 {LOG}", f"good: {NEXT}")
        self._partner.types(f"cut -c27- {LOG}", most=20)
        self._partner.sees("the agent again", f"{PRS} status", "pages/s")
        self._stands()

    def _goes_nowhere(self, *texts: str) -> None:
        said = self._partner.types(f"{PRS} update", code=1, most=14)
        if not any(text in said for text in texts):
            raise StoryError(f"the launcher did not say {texts[0]!r}")
        self._stands()

    def _offer_old(self) -> None:
        self._centre.prsm("release", "pin", AGENT, FIRST, show=True)
        self._goes_nowhere(f"{FIRST} is older than")
        self._centre.prsm("release", "pin", AGENT)

    def _away(self) -> None:
        self._centre.manager.stop()
        said = self._partner.types(f"{PRS} update", code=1)
        if "unreached at refresh" not in said:
            raise StoryError("the launcher did not say that the manager was away")
        self._centre.manager.start()
        wait_for(
            "the late report",
            lambda: "unreached" in self._centre.prsm("release", "updates", AGENT),
            seconds=LONG_S,
            every_s=1.0,
        )

    def _stands(self) -> None:
        self._partner.check_runs(NEXT)
        self._partner.types("readlink ~/prs/current")


LOG = "~/prs/launcher/update.log"
