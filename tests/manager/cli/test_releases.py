"""The whole ceremony by the commands that people type, with a signing process of its own."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from manager.app.web.web import build_app, wrapped
from manager.cli import main
from manager.cli.options import Target
from manager.console.notices import signature_notices
from manager.operations.releases.release_views import running_out
from tests.manager.cli.conftest import InProcess
from tests.manager.running import Running, running

Run = Callable[..., Result]
CODE = "import sys; from manager.cli import main; sys.exit(main())"
DAY_MS = 86_400_000


@pytest.fixture
def manager(tmp_path: Path) -> Iterator[Running]:
    """Return a manager whose clock is this machine's, and that asks a signer in the folder."""
    with running(tmp_path / "data", f'releases.signer="{tmp_path}/sign.sock"') as opened:
        opened.clock.now_ms = time.time_ns() // 1_000_000
        yield opened


@pytest.fixture
def run(manager: Running, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Return a function that runs `prsm release`."""
    monkeypatch.setenv("PRSM_KEY_PASSPHRASE", "words of the test")
    monkeypatch.chdir(tmp_path)
    app = wrapped(build_app(manager.manager), manager.manager, local=True)
    place = Target(tmp_path / "data", None, InProcess(app))

    def run(*arguments: str, code: int = 0) -> Result:
        result = CliRunner().invoke(main, ["release", *arguments], obj=place)
        assert result.exit_code == code, result.output
        return result

    return run


@pytest.fixture
def ceremony(run: Run) -> None:
    """Make keys, the first root and the first targets."""
    for name in ("anna", "ben", "cleo", "release"):
        run("key", f"{name}.pem")
    run("signer-keys", "signer")
    run(
        "root", "-o", "1.root.json", "--root-threshold", "2",
        "--root-key", "anna.pem.pub", "--root-key", "ben.pem.pub", "--root-key", "cleo.pem.pub",
        "--targets-key", "release.pem.pub", "--snapshot-key", "signer/snapshot.pem.pub",
        "--timestamp-key", "signer/timestamp.pem.pub",
    )  # fmt: skip
    run("cosign", "1.root.json", "--key", "anna.pem")
    run("cosign", "1.root.json", "--key", "cleo.pem")
    run("sign", "--key", "release.pem", "-o", "1.targets.json")


@pytest.fixture
def signer(ceremony: None, tmp_path: Path) -> Iterator[subprocess.Popen[str]]:
    """Start the signing process."""
    command = [sys.executable, "-c", CODE, "release", "signer", "--keys", "signer"]
    command += ["--socket", "sign.sock", "--root", "1.root.json"]
    with subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            assert process.stdout.readline().startswith("signing at")
            yield process
        finally:
            process.terminate()
        assert process.wait(30) == 0


@pytest.mark.usefixtures("signer")
def test_from_keys_to_a_release_at_all_agents_and_back(
    run: Run, manager: Running, tmp_path: Path
) -> None:
    """Init, publish, roll out, halt, revoke; agents download by their key, and nobody else."""
    run("init", "1.root.json", "1.targets.json")
    bundle = tmp_path / "prs-1.0.zip"
    bundle.write_bytes(b"the bytes of a release")
    run("sign", "prs-1.0.zip", "--version", "1.0", "--targets", "1.targets.json",
        "--key", "release.pem", "-o", "2.targets.json")  # fmt: skip
    said = run("publish", "prs-1.0.zip", "2.targets.json").output
    assert "1.0 is served" in said
    agent = manager.agent("a.example", "sync")
    offered = agent.call.get("/api/v1/update/offer").json()
    assert (offered["version"], offered["why"]) == ("", "nothing is rolled out to you")
    run("canary", "a.example")
    run("rollout", "1.0", "--ring", "canary")
    offered = agent.call.get("/api/v1/update/offer").json()
    assert (offered["version"], offered["target"]) == ("1.0", "prs-1.0.zip")
    listed = run("metadata", "targets.json").output
    assert "prs-1.0.zip" in listed
    name = next(path.name for path in manager.files("releases"))
    path = f"/api/v1/update/targets/{name}.prs-1.0.zip"
    assert agent.call.get(path).content == b"the bytes of a release"
    assert manager.anybody.get(path).status_code == 401
    assert manager.anybody.get("/api/v1/update/metadata/timestamp.json").status_code == 401
    assert agent.call.get("/api/v1/update/metadata/timestamp.json").json()["signed"]["version"] == 2
    run("halt", "1.0")
    assert agent.call.get("/api/v1/update/offer").json()["version"] == ""
    body = {"version": "1.0", "outcome": "went-back", "step": "sync", "detail": "no answer"}
    assert agent.call.post("/api/v1/update/report", json=body).status_code == 204
    assert "1.0 went-back sync no answer" in run().output
    run("sign", "--revoke", "1.0", "--targets", "2.targets.json", "--key", "release.pem",
        "-o", "3.targets.json")  # fmt: skip
    run("revoke", "1.0", "3.targets.json", "--yes")
    assert agent.call.get(path).status_code == 404
    assert "revoked" in run().output


@pytest.mark.usefixtures("signer")
def test_one_signature_of_two_is_not_enough(run: Run, tmp_path: Path) -> None:
    """A root that one person signed alone begins nothing."""
    run("root", "-o", "lone.json", "--previous", "1.root.json")
    run("init", "lone.json", "1.targets.json", code=1)
    run("init", "1.root.json", "1.targets.json")
    run("cosign", "lone.json", "--key", "anna.pem")
    assert "not signed by enough keys" in run("rotate", "--root", "lone.json", code=1).output
    run("cosign", "lone.json", "--key", "ben.pem")
    run("rotate", "--root", "lone.json")
    run("sign", "--targets", "1.targets.json", "--key", "release.pem", "-o", "2.targets.json")
    run("rotate", "--targets", "2.targets.json")
    assert "root 2: signed until" in run().output
    assert (tmp_path / "signer" / "snapshot.pem").stat().st_mode & 0o077 == 0


@pytest.mark.usefixtures("ceremony")
def test_without_the_signing_process_nothing_is_published(run: Run) -> None:
    """The manager cannot sign by itself, and says what to start."""
    said = run("init", "1.root.json", "1.targets.json", code=1).output
    assert "prsm release signer" in said
    assert "No release yet" in run().output


@pytest.mark.usefixtures("signer")
def test_the_overview_warns_before_a_signature_is_over(run: Run, manager: Running) -> None:
    """Signatures that nobody renews are a notice on the first page."""
    run("init", "1.root.json", "1.targets.json")
    manager.clock.now_ms += 5 * DAY_MS
    (ending,) = manager.local.get("/api/v1/overview").json()["signatures_ending"]
    assert ending["role"] == "timestamp"
    (notice,) = signature_notices(running_out(manager.manager.db, manager.clock()), manager.clock())
    assert notice.about == "Release metadata timestamp 1"
    assert "the signer must sign it again" in notice.text
