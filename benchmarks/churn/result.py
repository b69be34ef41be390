"""Result of a crawl with agents that come and go, beside an undisturbed one."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from benchmarks.churn.absences import Absence
from benchmarks.faults.evidence.observations import Request

__all__ = ["Crawl", "broken_promises", "result_of"]


@dataclass(frozen=True, slots=True)
class Crawl:
    """One round. requests: of pages, in order of time. lost: pages without an accepted log line."""

    seconds: float
    pages: int
    lost: int
    quarantined: int
    requests: Sequence[Request]
    absences: Sequence[Absence] = field(default_factory=tuple)

    @property
    def refetched(self) -> int:
        """Return how many requests asked for a page that had been asked for before."""
        return len(self.requests) - len({(one.host, one.path) for one in self.requests})


def _twice_after_short(crawl: Crawl) -> int:
    """Return the most pages that an agent asked for again after one short absence.

    Those that it had asked for itself before it left.
    """
    most = 0
    for absence in crawl.absences:
        if not absence.is_short:
            continue
        mine = [one for one in crawl.requests if one.agent == absence.agent]
        before = {(one.host, one.path) for one in mine if one.at_s < absence.left_s}
        after = {(one.host, one.path) for one in mine if one.at_s >= absence.left_s}
        most = max(most, len(before & after))
    return most


def _refetched_by_cause(crawl: Crawl) -> Counter[str]:
    """Return how many requests repeated a page: of the same agent, and of another one."""
    first: dict[tuple[str, str], str] = {}
    found: Counter[str] = Counter()
    for one in crawl.requests:
        page = one.host, one.path
        if page in first:
            found["same agent" if first[page] == one.agent else "other agent"] += 1
        first[page] = one.agent
    return found


def result_of(undisturbed: Crawl, disturbed: Crawl, in_flight: int) -> dict[str, float]:
    """Return the figures. in_flight: requests that an agent has under way at most.

    time_ratio: seconds of the disturbed crawl over those of the other. refetched_share: requests
    for a page that was asked for before, over pages. twice_after_short: the most pages that an
    agent asked for again after an absence within its permit.
    """
    causes = _refetched_by_cause(disturbed)
    kinds: defaultdict[str, int] = defaultdict(int)
    for one in disturbed.absences:
        kinds[f"{'short' if one.is_short else 'long'}_{one.kind.replace(' ', '_')}"] += 1
    return {
        "undisturbed_s": round(undisturbed.seconds, 1),
        "disturbed_s": round(disturbed.seconds, 1),
        "time_ratio": round(disturbed.seconds / undisturbed.seconds, 3),
        "pages": disturbed.pages,
        "lost": undisturbed.lost + disturbed.lost,
        "absences": len(disturbed.absences),
        **kinds,
        "refetched_share": round(disturbed.refetched / max(1, disturbed.pages), 4),
        "refetched_share_undisturbed": round(undisturbed.refetched / max(1, undisturbed.pages), 4),
        "refetched_by_others": causes["other agent"],
        "refetched_by_itself": causes["same agent"],
        "twice_after_short": _twice_after_short(disturbed),
        "in_flight": in_flight,
        "quarantined": disturbed.quarantined,
    }


def broken_promises(result: dict[str, float], impolite: Iterable[str]) -> list[str]:
    """Return what was promised and did not hold, in words."""
    broken = list(impolite)
    if result["lost"]:
        broken.append(f"{result['lost']:.0f} pages have no accepted log line")
    if result["twice_after_short"] > result["in_flight"]:
        broken.append(
            f"{result['twice_after_short']:.0f} pages were fetched again after a short absence;"
            f" {result['in_flight']:.0f} were under way at most"
        )
    if not result["absences"]:
        broken.append("no agent was away: the crawl was too short for --every-s")
    return broken
