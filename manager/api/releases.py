"""Releases of the agent: publish, offer, halt, revoke."""

from __future__ import annotations

import asyncio
from typing import Annotated, Any, Final

from fastapi import Query, Request, Response
from pydantic import BaseModel, Field

from manager.api.access import Admin, Services, Viewer
from manager.api.routes import subject_router
from manager.db.releases.update_reports import UpdateReportRow
from manager.intake.body_receiver import RELEASE_FILE, declared_bytes, receive
from manager.intake.messages.message_models import FirstMetadata, NextSigned, NextTargets
from manager.operations.releases import release_views, releases, rollouts, update_reports
from manager.operations.releases.offer_snapshots import ShownOffer
from manager.operations.releases.release_views import Releases
from shared.errors import Fault, FormatError

__all__ = ["router"]

router: Final = subject_router("releases", "/releases")
Version = Annotated[str, Field(max_length=64)]

BUNDLE: Final[dict[str, Any]] = {
    "requestBody": {
        "required": True,
        "content": {"application/octet-stream": {}, "application/gzip": {}, "text/plain": {}},
    }
}
"""What OpenAPI says of a release's file; `prsm` sends it as text/plain."""


class RollOut(BaseModel):
    """Agents that are offered a release. shown: refused where the offer has changed since."""

    ring: str
    shown: ShownOffer | None = None


class Canary(BaseModel):
    """Choice of an agent as one of the first of a rollout."""

    canary: bool = True


class VersionAsked(BaseModel):
    """A version; empty: none. shown: refused if the current version differs from it."""

    version: Version = ""
    shown: Version | None = None


class TakenBundle(BaseModel):
    """The file that came."""

    sha256: str


class Published(BaseModel):
    """The versions that are new."""

    versions: list[str]


@router.get("")
def list_(services: Services, _: Viewer) -> Releases:
    """Show all releases, how long signatures last, and how agents fared."""
    return release_views.list_releases(services.db)


@router.get("/updates")
def updates(
    services: Services, _: Viewer, agent: Annotated[str, Query(max_length=253)] = ""
) -> list[UpdateReportRow]:
    """Show what agents said of updates, the newest first; of one agent, or of all."""
    return update_reports.update_reports_of(services.db, agent)


@router.get("/metadata/{name}")
def metadata(services: Services, _: Viewer, name: str) -> Response:
    """Return a signed file, as `targets.json`; with a number in front an older one."""
    body = release_views.metadata_file(services.db, name)
    return Response(body, media_type="application/json")


@router.post("/init", status_code=204)
def init(services: Services, actor: Admin, asked: FirstMetadata) -> None:
    """Begin with the first root."""
    releases.begin_releases(
        services.db,
        services.signing,
        asked.root.encode(),
        asked.targets.encode(),
        actor,
        services.now_ms(),
    )


@router.post("/root", status_code=204)
def rotate(services: Services, actor: Admin, asked: NextSigned) -> None:
    """Take the next root, or targets with the same releases, or both."""
    releases.take_next(
        services.db,
        services.signing,
        _bytes(asked.root),
        _bytes(asked.targets),
        actor,
        services.now_ms(),
    )


@router.post("/bundles", status_code=201, openapi_extra=BUNDLE)
async def bundle(request: Request, services: Services, _: Admin) -> TakenBundle:
    """Take a release's file; it is served once targets name it, and thrown away after a day."""
    body = await receive(
        request.stream(),
        services.spool,
        RELEASE_FILE,
        limit_bytes=services.settings.releases.bundle_bytes,
        declared_bytes=declared_bytes(request),
        limits=services.settings.limits,
    )
    try:
        if not body.size_bytes:
            raise FormatError("releases.bundle_empty", Fault.EMPTY_BODY)
        return TakenBundle(sha256=await asyncio.to_thread(services.bundles.take, body.path))
    finally:
        await asyncio.to_thread(body.discard)


@router.post("/publish", status_code=201)
def publish(services: Services, actor: Admin, asked: NextTargets) -> Published:
    """Serve new targets with more releases, which are not offered to any agent yet."""
    new = releases.publish(
        services.db,
        services.signing,
        asked.targets.encode(),
        lambda one: services.bundles.has(one.sha256, one.size_bytes),
        actor,
        services.now_ms(),
    )
    return Published(versions=new)


@router.post("/minimum", status_code=204)
def minimum(services: Services, actor: Admin, asked: VersionAsked) -> None:
    """Set the minimum agent version: older agents get no permit; empty: no minimum."""
    rollouts.set_minimum_version(
        services.db, asked.version, actor, services.now_ms(), shown=asked.shown
    )


@router.post("/agents/{agent}/canary", status_code=204)
def canary(services: Services, actor: Admin, agent: str, asked: Canary) -> None:
    """Add an agent to the first of a rollout, or remove it."""
    rollouts.set_canary(services.db, agent, actor, services.now_ms(), canary=asked.canary)


@router.post("/agents/{agent}/pin", status_code=204)
def pin(services: Services, actor: Admin, agent: str, asked: VersionAsked) -> None:
    """Offer an agent one version only; empty: what its ring is offered."""
    rollouts.pin_version(
        services.db, agent, asked.version, actor, services.now_ms(), shown=asked.shown
    )


@router.post("/{version}/rollout", status_code=204)
def roll_out(services: Services, actor: Admin, version: str, asked: RollOut) -> None:
    """Offer a release to a ring: canary, tenth or all."""
    rollouts.roll_out(services.db, version, asked.ring, actor, services.now_ms(), shown=asked.shown)


@router.post("/{version}/halt", status_code=204)
def halt(services: Services, actor: Admin, version: str) -> None:
    """Stop offering a release; needs no key."""
    rollouts.halt(services.db, version, actor, services.now_ms())


@router.post("/{version}/revoke", status_code=204)
def revoke(services: Services, actor: Admin, version: str, asked: NextTargets) -> None:
    """Serve targets without a release; they are signed by the targets keys."""
    releases.revoke(
        services.db, services.signing, version, asked.targets.encode(), actor, services.now_ms()
    )


def _bytes(text: str | None) -> bytes | None:
    return None if text is None else text.encode()
