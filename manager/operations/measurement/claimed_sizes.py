"""Bytes that count of doubted claims: by a believed crawl, or by an estimate from several sources.

A crawl fetches more pages than the probes of the other agents, so their bytes a line only estimate
its bytes. The agent's times, where they are believed, estimate them, too: in its own ms per byte
of the pages that the others probed. And its claimed bytes, over the factor by which its own probe
of the unit is wrong, are exact where it lies in the same way about both.
Invariants: the bytes of a unit follow from what is known of it, in any order of arrival.
A claim counts within a factor of the estimate, else the estimate does.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Collection, Iterator
from typing import Final

from manager.db.engine import Transaction
from manager.db.measurement import measurements
from manager.db.measurement.measurements import SumRow
from manager.db.rounds import rounds
from manager.distance.doubts import Claim, Fault, Reference, reference_of
from manager.operations.measurement.claim_samples import crawled_before
from manager.operations.measurement.claims import (
    BYTE_FAULTS,
    LINE_FAULTS,
    TIME_FAULTS,
    Period,
    claim_of,
    other_claims,
    power_of_ten,
    references,
)
from shared.frozen import frozen

__all__ = ["SizeEvidence", "counted_size", "size_evidence"]

WITHIN: Final = 1.3
"""Of the estimate of a crawl by lines and times: true bytes are rarely farther from it."""
WITHIN_BY_LINES: Final = 3.0
"""Of the estimate by lines alone, for bytes that are all wrong by one factor."""
BYTES_NEAR: Final = 1.2
"""Within which a factor of bytes is taken for the power of ten next to it."""


@frozen
class SizeEvidence:
    """Evidence of the bytes of a unit beside one agent's claim of it.

    seen: claims of the other agents; probed: those of their probes alone; probed_bytes: of one of
    their probes as a whole. probe: the agent's own
    newest probe, as claimed. crawl: the newest whole crawl that is not doubted, of any agent.
    """

    seen: Reference | None = None
    probed: Reference | None = None
    probe: Claim | None = None
    crawl: Claim | None = None
    probed_bytes: float = 0.0


def size_evidence(
    tx: Transaction, agent_id: int, unit_ids: Collection[int]
) -> dict[int, SizeEvidence]:
    """Return what is known of the bytes of units beside an agent's claims."""
    if not unit_ids:
        return {}
    seen = references(tx, agent_id, unit_ids)
    probed = other_claims(tx, agent_id, unit_ids, kind="probe")
    crawls = crawled_before(tx, unit_ids, rounds.last_number(tx) + 1)
    probes: dict[int, SumRow] = {}
    for row in measurements.sums_of_agent(tx, agent_id, unit_ids):
        known = probes.get(row.unit_id)
        if row.kind == "probe" and (known is None or known.round < row.round):
            probes[row.unit_id] = row
    return {
        unit: SizeEvidence(
            seen.get(unit),
            reference_of(probed.get(unit, [])),
            claim_of(probes[unit]) if unit in probes else None,
            crawls.get(unit),
            statistics.median(one.size_bytes for one in probed[unit]) if unit in probed else 0.0,
        )
        for unit in unit_ids
    }


def counted_size(claim: Claim, kind: str, period: Period, evidence: SizeEvidence) -> float:
    """Return the bytes that count of a doubted claim of a probe or a crawl."""
    if not period.has(*BYTE_FAULTS):
        return claim.size_bytes
    if period.has(*LINE_FAULTS):
        return _of_wrong_lines(claim, kind, period, evidence)
    if kind == "crawl" and evidence.crawl is not None:
        return evidence.crawl.size_bytes / evidence.crawl.lines * claim.lines
    reference = evidence.seen
    if kind == "probe" and evidence.probed is not None:
        reference = evidence.probed
    scaled = _scaled(claim, period)
    if reference is None:
        return claim.size_bytes if scaled is None else scaled
    by_lines = reference.bytes_per_line * claim.lines
    if scaled is not None and _is_near(scaled, by_lines, WITHIN_BY_LINES):
        return scaled
    if kind == "probe":
        return by_lines
    by_times = None if period.has(*TIME_FAULTS) else _by_times(claim, evidence)
    estimate = by_lines if by_times is None else math.sqrt(by_lines * by_times)
    return next(
        (size for size in _claimed(claim, evidence) if _is_near(size, estimate, WITHIN)), estimate
    )


def _of_wrong_lines(claim: Claim, kind: str, period: Period, evidence: SizeEvidence) -> float:
    """Return the bytes of a unit whose number of lines is doubted: no bytes a line say anything."""
    if kind == "crawl" and evidence.crawl is not None:
        return float(evidence.crawl.size_bytes)
    probe, probed_bytes = evidence.probe, evidence.probed_bytes
    if kind == "probe" or not probed_bytes or probe is None:
        return max(probed_bytes, 1.0) if kind == "probe" and probed_bytes else claim.size_bytes
    like_probe = claim.size_bytes * probed_bytes / probe.size_bytes
    if period.has(*TIME_FAULTS) or not probe.elapsed_ms or not claim.elapsed_ms:
        return max(probed_bytes, like_probe)
    by_times = max(probed_bytes, probed_bytes * claim.elapsed_ms / probe.elapsed_ms)
    claimed = (like_probe, float(claim.size_bytes))
    return next((size for size in claimed if _is_near(size, by_times, WITHIN)), by_times)


def _scaled(claim: Claim, period: Period) -> float | None:
    """Return claimed bytes without the factor that holds for all; None: there is no such factor."""
    scale = next((one.factor for one in period.doubts if one.fault is Fault.BYTES), None)
    if scale is None:
        return None
    tens = power_of_ten(scale)
    is_ten = _is_near(scale, tens, BYTES_NEAR)
    return max(1.0, claim.size_bytes / (tens if is_ten else scale))


def _by_times(claim: Claim, evidence: SizeEvidence) -> float | None:
    """Return bytes by the agent's own ms per byte, as it probed what the others probed, too."""
    probe, probed = evidence.probe, evidence.probed
    if probe is None or probed is None or not probe.elapsed_ms or not claim.elapsed_ms:
        return None
    probed_bytes = probed.bytes_per_line * probe.lines
    return probed_bytes * claim.elapsed_ms / probe.elapsed_ms


def _claimed(claim: Claim, evidence: SizeEvidence) -> Iterator[float]:
    """Yield claimed bytes, put right as the agent's own probe must be, and as they came."""
    probe, probed = evidence.probe, evidence.probed
    if probe is not None and probed is not None:
        yield claim.size_bytes * probed.bytes_per_line * probe.lines / probe.size_bytes
    yield float(claim.size_bytes)


def _is_near(size: float, expected: float, factor: float) -> bool:
    return expected / factor <= size <= expected * factor
