"""Alerts, their recipients, silences, maintenance windows, and a test message."""

from __future__ import annotations

from typing import Annotated, Final

from pydantic import BaseModel, Field

from manager.api.access import Operator, Services, Viewer
from manager.api.routes import subject_router
from manager.operations.health import silences
from manager.operations.health.alert_views import Alerts, SentTest, current_alerts, send_test
from shared.wire.sync import EpochMs

__all__ = ["router"]

router: Final = subject_router("alerts")
Seconds = Annotated[float, Field(ge=0, le=30 * 86_400)]
Reason = Annotated[str, Field(max_length=500)]


class Quiet(BaseModel):
    """A maintenance window from now on."""

    seconds: Seconds
    reason: Reason = ""


class Silence(BaseModel):
    """Request to acknowledge an alert. key: from `GET /alerts`."""

    key: Annotated[str, Field(min_length=1, max_length=500)]
    seconds: Annotated[float, Field(gt=0, le=30 * 86_400)]
    reason: Annotated[str, Field(min_length=1, max_length=500)]


class Window(BaseModel):
    """A maintenance window that is planned."""

    from_ms: EpochMs
    until_ms: EpochMs
    reason: Reason = ""


@router.get("/alerts")
def alerts(services: Services, _: Viewer) -> Alerts:
    """Show the current alerts: since when, their recipients, and the next message."""
    return current_alerts(services.db, services.alerts, services.now_ms())


@router.post("/alerts/quiet")
def quiet(services: Services, actor: Operator, asked: Quiet) -> Alerts:
    """Silence all alerts for some seconds; 0 ends it. Alerts that persist are sent then."""
    now_ms = services.now_ms()
    until_ms = now_ms + round(asked.seconds * 1000) if asked.seconds else 0
    silences.silence_all(services.db, until_ms, asked.reason, actor, now_ms)
    return current_alerts(services.db, services.alerts, now_ms)


@router.post("/alerts/silence", status_code=204)
def silence(services: Services, actor: Operator, asked: Silence) -> None:
    """Acknowledge one alert: silence it for some seconds, except for its end."""
    now_ms = services.now_ms()
    until_ms = now_ms + round(asked.seconds * 1000)
    silences.silence(services.db, asked.key, until_ms, asked.reason, actor, now_ms)


@router.post("/alerts/windows", status_code=204)
def window(services: Services, actor: Operator, asked: Window) -> None:
    """Plan a maintenance window."""
    silences.add_window(
        services.db, asked.from_ms, asked.until_ms, asked.reason, actor, services.now_ms()
    )


@router.post("/alerts/silences/{number}/end", status_code=204)
def end(services: Services, actor: Operator, number: int) -> None:
    """End a silence or a window, or take back one that is to come."""
    silences.end_silence(services.db, number, actor, services.now_ms())


@router.post("/alerts/test")
def test(services: Services, actor: Operator) -> list[SentTest]:
    """Send a test message to all recipients of alerts."""
    return send_test(services.db, services.alerts, actor, services.now_ms())
