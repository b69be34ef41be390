"""What Prometheus reads: every number there is, few labels, and a dashboard that names no other."""

from __future__ import annotations

import json
import re
import socket
from pathlib import Path

import httpx
import pytest
from prometheus_client import generate_latest

from manager.app.web.metrics import Metrics
from manager.clock import Clock
from manager.errors import BusyError
from manager.operations.health.system_figures import SystemFigures
from manager.settings import ServerSettings
from shared.errors import SettingError
from tests.manager.running import fill, running

DASHBOARD = Path(__file__).parents[4] / "deploy" / "grafana-dashboard.json"


def scraped(metrics: Metrics) -> str:
    return generate_latest(metrics.registry).decode()


def test_tables_and_requests_are_counted(tmp_path: Path) -> None:
    """Agents by state, the leader, requests by the template of their route."""
    with running(tmp_path) as prsm:
        fill(prsm, "h1.jp")
        prsm.agent("a.example").call.get("/servlets/isrestart?host=a.example")
        for name in ("one", "two"):
            prsm.local.get(f"/api/v1/agents/{name}")
        text = scraped(prsm.manager.metrics)
    assert "prsm_leads 1.0" in text
    assert "prsm_leader_epoch 1.0" in text
    assert re.search(r'prsm_agents\{state="\w+"\} 1\.0', text)
    assert 'prsm_request_seconds_count{route="/servlets/isrestart",status="2xx"} 1.0' in text
    assert 'prsm_request_seconds_count{route="/api/v1/agents/{name}",status="4xx"} 2.0' in text


def test_strangers_make_no_series(tmp_path: Path) -> None:
    """However many addresses are asked for, the labels stay as few."""
    with running(tmp_path) as prsm:
        prsm.anybody.get("/nothing/0")
        before = scraped(prsm.manager.metrics).count("\n")
        for number in range(50):
            prsm.anybody.get(f"/nothing/{number}")
            prsm.anybody.get(f"/console/hosts/{number}")
            prsm.anybody.get(f"/console/static/{number}")
        assert scraped(prsm.manager.metrics).count("\n") - before < 40
        assert "nothing/" not in scraped(prsm.manager.metrics)


def test_a_database_that_is_gone_leaves_the_rest() -> None:
    """Scrapes go on, and say for how long."""

    def gone() -> SystemFigures:
        raise BusyError("gone")

    text = scraped(Metrics(gone, lambda: 0, lambda: 7.5))
    assert "prsm_database_gone_seconds 7.5" in text
    assert "prsm_leads 0.0" in text
    assert "prsm_agents" not in text


def test_jobs_are_timed_and_failures_counted() -> None:
    """Each job of the clock by its name."""
    metrics = Metrics(_never, lambda: 1, lambda: 0.0)
    done: list[int] = []
    metrics.timed("tick", lambda: done.append(1))()
    with pytest.raises(ZeroDivisionError):
        metrics.timed("tick", lambda: 1 // 0)()
    text = scraped(metrics)
    assert done == [1]
    assert 'prsm_job_seconds_count{job="tick"} 2.0' in text
    assert 'prsm_job_failures_total{job="tick"} 1.0' in text
    Clock(metrics.timed).every(5, "names", lambda: None)
    assert 'prsm_job_seconds_count{job="names"} 0.0' in scraped(metrics)


def test_metrics_have_an_address_of_their_own() -> None:
    """Without a port nobody can ask; a port that is taken is said."""
    metrics = Metrics(_never, lambda: 1, lambda: 0.0)
    metrics.serve(ServerSettings())()
    with httpx.Client() as client:
        with socket.create_server(("127.0.0.1", 0)) as taken:
            port = taken.getsockname()[1]
            with pytest.raises(SettingError, match=f"metrics_port = {port} at 127.0.0.1"):
                metrics.serve(ServerSettings(metrics_port=port))
        stop = metrics.serve(ServerSettings(metrics_port=port))
        assert "prsm_leads 1.0" in client.get(f"http://127.0.0.1:{port}/metrics").text
        stop()
        with pytest.raises(httpx.ConnectError):
            client.get(f"http://127.0.0.1:{port}/metrics")


def test_the_dashboard_names_only_what_there_is(tmp_path: Path) -> None:
    """And each number of ours is on it."""
    with running(tmp_path) as prsm:
        prsm.anybody.get("/healthz")
        text = scraped(prsm.manager.metrics)
    there = set(re.findall(r"^# TYPE (\w+)", text, re.MULTILINE))
    there |= {f"{name}_{end}" for name in there for end in ("bucket", "count", "sum")}
    dashboard = json.loads(DASHBOARD.read_text())
    asked = [target["expr"] for panel in dashboard["panels"] for target in panel["targets"]]
    named = set(re.findall(r"\b(?:prsm|process)_\w+", " ".join(asked)))
    assert named <= there, named - there
    ours = [name for name in there if name.startswith("prsm_") and "_created" not in name]
    families = {re.sub("_(bucket|count|sum)$", "", name) for name in ours}
    unseen = {name for name in families if not any(one.startswith(name) for one in named)}
    assert unseen <= {"prsm_leader_epoch", "prsm_round"}, unseen


def _never() -> SystemFigures:
    raise BusyError("nobody asks")
