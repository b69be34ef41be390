"""A manager of a newer version beside one of an older, with an agent attached; and back again."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

import migrations
from manager.db.migrate import newest_schema
from shared.wire.crawl_log import LogLine, encode
from tests.e2e.manager_process import prsm, running_manager
from tests.postgres import PostgresServer, postgres_server

__all__ = ["postgres_server"]

pytestmark = [pytest.mark.e2e, pytest.mark.postgres, pytest.mark.slow]

CODE = "import sys; from manager.cli import main; sys.exit(main())"
LINE = LogLine("http://www.example.jp/", 300, 5000, 20, b"HTTP/1.1 200 OK\r\n")

STEP = '''"""What a later version might add."""
import sqlalchemy as sa
from alembic import op
revision, down_revision = "9001", "{before}"
branch_labels = depends_on = None
def upgrade():
    op.add_column("agents", sa.Column("motto", sa.Text(), server_default="", nullable=False))
    op.create_table("mottos", sa.Column("id", sa.Integer(), primary_key=True))
def downgrade():
    op.drop_table("mottos")
    with op.batch_alter_table("agents") as batch:
        batch.drop_column("motto")
'''


def newer_version(folder: Path) -> str:
    """Make a version with one more step; return the shell words that run it."""
    steps = folder / "migrations"
    shutil.copytree(Path(migrations.__file__).parent, steps)
    (steps / "versions" / "9001_later.py").write_text(STEP.format(before=newest_schema()))
    return f"cd {folder}"  # what lies in the working directory is imported first


def log_body(minute: str) -> bytes:
    return f"a.example.{minute}\n".encode() + b"".join(encode([LINE]))


def test_two_versions_serve_one_database(tmp_path: Path, postgres_server: PostgresServer) -> None:
    """The agent calls the one, then the other; the old one ends, and nothing was lost."""
    newer = newer_version(tmp_path / "newer")
    with postgres_server.new_database() as url:
        shared = (
            f"database.url={url}",
            f"database.files_folder={tmp_path / 'files'}",
            "database.leader_timeout_s=2",
        )
        config = tmp_path / "prsm.toml"
        config.write_text(f'[database]\nurl = "{url}"\n')
        with (
            running_manager(tmp_path / "old", *shared) as old,
            old.agent("a.example") as agent,
        ):
            first = log_body("202611211000")
            assert "accepted, 1 line" in agent.post("servlets/submitlog", content=first).text
            with (
                running_manager(tmp_path / "new", *shared, before=newer) as new,
                new.client(headers=agent.headers) as at_new,
            ):
                assert "database 9001" in run(tmp_path, newer, config, "status")
                for number, manager in enumerate((agent, at_new, agent)):
                    body = log_body(f"20261121110{number}")
                    said = manager.post("servlets/submitlog", content=body).text
                    assert "accepted, 1 line" in said
                    assert manager.get("servlets/list?host=a.example").status_code == 200
                prsm(old.data, "hosts", "import", "-", stdin="www.example.jp\n")
                assert prsm(old.data, "check") == "no problem found\n"
                assert old.stop() == 0
                assert old.log.count("Traceback") == 0
                assert "created by a newer one" in prsm(
                    old.data, "serve", *(word for each in shared for word in ("--set", each)),
                    code=1,
                )  # fmt: skip
                give_up = time.monotonic() + 600
                while not any(
                    one["leads"]
                    for one in json.loads(prsm(new.data, "managers", "--json"))["managers"]
                ):
                    assert time.monotonic() < give_up
                assert len(json.loads(prsm(new.data, "reports", "--json"))) == 4
                assert "still serve; stop" in run(tmp_path, newer, config, "down", newest_schema())
            said = run(tmp_path, newer, config, "down", newest_schema())
            assert f"database {newest_schema()}" in said
            old.start()
            with old.client(headers=agent.headers) as again:
                assert again.get("servlets/list?host=a.example").status_code == 200
            assert prsm(old.data, "check") == "no problem found\n"


def run(folder: Path, newer: str, config: Path, *words: str) -> str:
    """Run `prsm migrate` of the newer version; return all that it says."""
    done = subprocess.run(
        [sys.executable, "-c", CODE, "--data", str(folder / "any"), "--config", str(config),
         "migrate", *words],
        cwd=newer.removeprefix("cd "), capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    return done.stdout + done.stderr
