"""What the clock does, and on which manager."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import cast

import pytest

from manager.app import manager_run as app_running
from manager.app.leadership import Leadership
from manager.clock import Clock, Job
from manager.intake.workers.body_workers import BodyWorkers, Pool
from manager.operations.releases.release_views import metadata_file
from manager.operations.releases.releases import begin_releases
from manager.signing.client import SigningClient
from tests.ceremony import Ceremony, version_of
from tests.manager.running import LOCAL, running


def test_the_manager_beside_the_signer_renews_while_another_leads(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The signer is a process of one machine, and the lead may stay on another."""
    jobs: dict[str, Job] = {}

    class Declared(Clock):
        def every(self, interval_s: float, name: str, job: Job, **_: object) -> None:
            jobs[name] = job

    monkeypatch.setattr(app_running, "Clock", Declared)
    monkeypatch.setattr(Leadership, "only", lambda *_, **__: lambda: None)
    with running(tmp_path / "data") as prsm:
        db, keys = prsm.manager.db, Ceremony(tmp_path / "keys", prsm.clock)
        signer = keys.signer()
        root, targets = keys.root.to_bytes(), keys.targets.to_bytes()
        begin_releases(db, signer, root, targets, LOCAL, prsm.clock())
        before = version_of(metadata_file(db, "timestamp.json"))
        beside = replace(prsm.manager, signing=cast("SigningClient", signer))
        app_running._clocks(beside, BodyWorkers(Pool()))
        prsm.clock.advance(86_401)
        jobs["timestamp"]()
        assert version_of(metadata_file(db, "timestamp.json")) == before + 1
