"""Splits of hosts: split and merge one, what prediction proposes, slow hosts."""

from __future__ import annotations

from typing import Annotated, Final

from pydantic import BaseModel, Field

from manager.api.access import Operator, Services, Viewer
from manager.api.routes import subject_router
from manager.operations.hosts import host_merge, host_split
from manager.operations.hosts.host_split import Split
from manager.operations.hosts.splits import application, orders, proposals
from manager.operations.hosts.splits.application import SplitsApplied
from manager.operations.hosts.splits.proposals import SplitReport

__all__ = ["router"]

router: Final = subject_router("hosts", "/hosts")


class SplitHost(BaseModel):
    """A host that several agents are to crawl at once, each some of its directories."""

    host: Annotated[str, Field(max_length=2083)]
    pieces: Annotated[
        int | None, Field(description="agents at once; all that could, if absent")
    ] = None
    interval_s: Annotated[
        float | None, Field(description="seconds between two requests to it, whoever sends them")
    ] = None
    dry_run: Annotated[bool, Field(description="only say how it would be cut")] = False


class MergeHost(BaseModel):
    """A split host that one agent is to crawl again."""

    host: Annotated[str, Field(max_length=2083)]


class ApplySplits(BaseModel):
    """A proposal to carry out, or all."""

    host: Annotated[str, Field(max_length=2083, description="empty: all proposals")] = ""


class CancelSplit(BaseModel):
    """A host that is not to be split or merged when its crawl is over."""

    host: Annotated[str, Field(max_length=2083)]


class Merged(BaseModel):
    """Number of directories that became parts of their host again."""

    units: int


@router.post("/split")
def split(services: Services, actor: Operator, asked: SplitHost) -> Split:
    """Cut a host into directories for several agents, by what its newest crawl held."""
    return host_split.split_host(
        services.db,
        asked.host,
        actor,
        services.now_ms(),
        parts=asked.pieces,
        interval_s=asked.interval_s,
        dry_run=asked.dry_run,
        policy=services.policy,
    )


@router.post("/merge")
def merge(services: Services, actor: Operator, asked: MergeHost) -> Merged:
    """Make the directories of a split host one unit again."""
    units = host_merge.merge_host(
        services.db, asked.host, actor, services.now_ms(), services.policy
    )
    return Merged(units=units)


@router.get("/splits")
def split_report(services: Services, _: Viewer) -> SplitReport:
    """List hosts whose split or merge makes the crawl end earlier, and slow hosts with what helps.

    May be minutes old. Only the hosts that hold the crawl up are looked at.
    """
    return proposals.split_report(services.db, services.policy, services.now_ms())


@router.post("/splits/apply")
def apply_splits(services: Services, actor: Operator, asked: ApplySplits) -> SplitsApplied:
    """Split or merge a host by its proposal, or all hosts; after a crawl that is under way."""
    return application.apply_proposals(
        services.db, actor, services.now_ms(), services.policy, asked.host
    )


@router.post("/splits/cancel", status_code=204)
def cancel_split(services: Services, actor: Operator, asked: CancelSplit) -> None:
    """Cancel the split or merge of a host that waits for the end of its crawl."""
    orders.cancel_order(services.db, asked.host, actor, services.now_ms())
