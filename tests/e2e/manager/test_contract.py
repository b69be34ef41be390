"""schemathesis against a manager that runs, with rows and with a key for every operation.

It makes requests from the OpenAPI document, right and wrong ones, and holds each answer to what
the document says. By hand: `python -m tests.e2e.manager.test_contract N`, N requests a property.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import httpx
import pytest

from tests.e2e.manager_process import ManagerProcess, prsm, running_manager
from tests.manager.console.filled import PASSWORD, fill_world

pytestmark = [pytest.mark.e2e, pytest.mark.slow, pytest.mark.timeout(3600)]

EXAMPLES: Final = 10
AGENT: Final = "kyoto.example.ac.jp"
LIMITS: Final = (
    "limits.uploads_per_minute=100000",
    "archive.parallel_selections=100",
    "collection.reserve_bytes=0",
    "collection.segment_bytes=1000000",
)
AGENTS_OWN: Final = "^/servlets/|^/api/v1/(sync$|uploads|update|collection/orders/{number}$)"
THIRD_PARTIES: Final = "^/api/v1/(segments|pages|changes|index|daily)"
WASAPI: Final = "^/wasapi|^/api/v1/results"
SERVING: Final = {"url": "https://127.0.0.1:9", "fingerprint": "0" * 64}


@dataclass
class Outcome:
    """What a run found. operations: reached, of all documented; statuses: by operation."""

    documented: int
    operations: int
    cases: int
    findings: list[str]
    statuses: dict[str, Counter[int]] = field(default_factory=dict)


def keys(manager: ManagerProcess, data: Path) -> dict[str, str]:
    """Return the header fields with which each part of the API is called."""
    with manager.client() as client:
        logged = client.post("/api/v1/login", json={"name": "admin", "password": PASSWORD})
        assert logged.status_code == 200, logged.text
        cookie = "; ".join(f"{name}={value}" for name, value in client.cookies.items())
        person = {"Cookie": cookie, "X-CSRF-Token": logged.json()["csrf_token"]}
        made = client.post(
            "/api/v1/tokens", json={"name": "contract", "role": "admin"}, headers=person
        )
        assert made.status_code == 201, made.text
    return {
        "cookie": cookie,
        "csrf": person["X-CSRF-Token"],
        "script": f"Bearer {made.json()['token']}",
        "agent": agent_key(manager, "contract.example"),
        "rekeyed": agent_key(manager, "rekeyed.example"),
        "serving": serving(manager),
        "client": "Bearer " + prsm(data, "clients", "token", "library").split()[0],
    }


def agent_key(manager: ManagerProcess, name: str) -> str:
    """Return the header field of a new agent's key."""
    with manager.agent(name, "sync") as agent:
        return str(agent.headers["Authorization"])


def serving(manager: ManagerProcess) -> str:
    """Return the key of an agent from which the manager may fetch."""
    said = {"agent": "serving.example", "boot_id": "b", "sequence": 1, "version": "1"}
    with manager.agent("serving.example", "sync") as agent:
        answer = agent.post(
            "/api/v1/sync", json={**said, "clock_ms": 1, "state": "idle", "serving": SERVING}
        )
        assert answer.status_code == 200, answer.text
        return str(agent.headers["Authorization"])


def settings_of(key: dict[str, str]) -> str:
    """Return the file that tells schemathesis who calls what, and which rows there are."""
    person = f'{{ Cookie = "{key["cookie"]}", X-CSRF-Token = "{key["csrf"]}" }}'
    return f"""
headers = {{ Authorization = "{key["script"]}" }}

[checks]
positive_data_acceptance.enabled = false  # rows that a request names may not be there
use_after_free.enabled = false
ensure_resource_availability.enabled = false

[checks.negative_data_rejection]
expected-statuses = [400, 401, 403, 404, 405, 409, 412, 413, 415]

[checks.missing_required_header]
expected-statuses = [400, 401, 403, 412]

[parameters]
"path.agent" = "{AGENT}"

[[operations]]
include-path-regex = "{AGENTS_OWN}"
headers = {{ Authorization = "{key["agent"]}" }}

[[operations]]
include-path = "/api/v1/collection/offers"
headers = {{ Authorization = "{key["serving"]}" }}

[[operations]]
include-path = "/api/v1/key"
headers = {{ Authorization = "{key["rekeyed"]}" }}

[[operations]]
include-path-regex = "{THIRD_PARTIES}"
headers = {{ Authorization = "{key["client"]}" }}

[[operations]]
include-path-regex = "{WASAPI}"
headers = {{ Authorization = "{key["client"]}" }}
checks.missing_required_header.enabled = false  # its clients understand 403 and no 401

[[operations]]
include-name = "POST /api/v1/tokens"
headers = {person}
checks.ignored_auth.enabled = false  # it knows the cookie by its name under TLS only

[[operations]]
include-path-regex = "/agents/{{name}}"
parameters = {{ "path.name" = "{AGENT}" }}

[[operations]]
include-path-regex = "/clients/{{name}}"
parameters = {{ "path.name" = "museum" }}

[[operations]]
include-path-regex = "/users/{{name}}"
parameters = {{ "path.name" = "viewer" }}
"""


def run(folder: Path, examples: int, *more: str) -> Outcome:
    """Fill a manager, serve it, and let schemathesis ask."""
    data = folder / "manager"
    fill_world(data)
    with running_manager(data, *LIMITS) as manager:
        settings, report = folder / "schemathesis.toml", folder / "report.ndjson"
        settings.write_text(settings_of(keys(manager, data)))
        document = httpx.get(f"{manager.url}api/v1/openapi.json").json()
        command = [
            *(
                str(Path(sys.executable).with_name("schemathesis")),
                "--config-file",
                str(settings),
                "run",
            ),
            *(f"{manager.url}api/v1/openapi.json", "--no-color"),
            *("--max-examples", str(examples), "--seed", "1", "--continue-on-failure"),
            *("--phases", "examples,coverage,fuzzing", "--request-timeout", "60"),
            *("--report", "ndjson", "--report-ndjson-path", str(report), *more),
        ]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    (folder / "said.txt").write_text(done.stdout + done.stderr)
    return outcome_of(report, document)


def outcome_of(report: Path, document: dict[str, Any]) -> Outcome:
    """Read what a run wrote: events, a line of JSON each."""
    found: dict[str, None] = {}
    reached: dict[str, Counter[int]] = {}
    for line in report.read_text().splitlines():
        _read_event(json.loads(line), found, reached)
    every = {
        f"{method.upper()} {path}" for path, item in document["paths"].items() for method in item
    }
    cases = sum(counts.total() for counts in reached.values())
    return Outcome(len(every), len(every & reached.keys()), cases, list(found), reached)


def _read_event(
    event: dict[str, Any], found: dict[str, None], reached: dict[str, Counter[int]]
) -> None:
    for kind, said in event.items():
        if kind in ("NonFatalError", "FatalError"):
            found[f"{kind}: {json.dumps(said)[:600]}"] = None
        if kind != "ScenarioFinished":
            continue
        recorder = said["recorder"]
        counts = reached.setdefault(recorder["label"], Counter())
        for interaction in recorder.get("interactions", {}).values():
            if interaction["response"] is not None:
                counts[interaction["response"]["status_code"]] += 1
        _read_failures(recorder.get("checks"), found)


def _read_failures(part: Any, found: dict[str, None]) -> None:
    if isinstance(part, dict):
        if {"code", "title", "operation", "message"} <= part.keys():
            found[f"{part['title']}: {part['operation']}: {part['message'][:400]}"] = None
        part = list(part.values())
    if isinstance(part, list):
        for each in part:
            _read_failures(each, found)


def shown(outcome: Outcome) -> str:
    """Return the figures of a run, and what it found."""
    done = sum(any(200 <= one < 300 for one in counts) for counts in outcome.statuses.values())
    head = (
        f"schemathesis: {outcome.operations} of {outcome.documented} operations reached, "
        f"{done} of them answered by 2xx, {outcome.cases} cases, {len(outcome.findings)} findings"
    )
    return "\n".join([head, *outcome.findings])


def test_schemathesis_finds_nothing(tmp_path: Path) -> None:
    """All operations are reached, and each answer is as the document says."""
    outcome = run(tmp_path, EXAMPLES)
    print(shown(outcome))
    assert outcome.findings == [], shown(outcome)
    assert outcome.operations == outcome.documented, shown(outcome)


if __name__ == "__main__":
    place = Path(tempfile.mkdtemp(prefix="contract-"))
    print(place, flush=True)
    print(shown(run(place, int(sys.argv[1]), *sys.argv[2:])))
