"""What agents said is taken as files, and compared, from the console as by command."""

from __future__ import annotations

import csv
import io
import zipfile
from pathlib import Path

from manager.console.streamed_files import READ_BYTES, zip_pieces
from manager.operations.logs.source_files import ExportFile
from manager.operations.people.audit_log import audit_page
from tests.manager.console.conftest import Visitor
from tests.manager.console.markup import read
from tests.manager.operations.logged import HOUR_MS, add_log
from tests.manager.running import START_MS, Running

KYOTO = "kyoto.example.ac.jp"


def test_an_export_is_one_zip(prsm: Running, person: Visitor) -> None:
    """With the names and lines of the source; the audit says who took it."""
    browser = person("operator")
    answer = browser.act("/console/reports", "/console/reports/take", {"kind": "lists"})
    assert answer.status_code == 200
    assert answer.headers["content-type"] == "application/zip"
    with zipfile.ZipFile(io.BytesIO(answer.content)) as archive:
        assert archive.testzip() is None
        assert archive.namelist()
    (row,) = audit_page(prsm.manager.db, action="export.")
    assert row.actor_name
    assert not list(prsm.manager.layout.spool.iterdir())


def test_a_viewer_is_offered_no_files(prsm: Running, person: Visitor) -> None:
    """Whole logs are for who may act."""
    assert "Download as zip" not in person("viewer").page("/console/reports").text


def test_logs_are_compared_on_a_page(prsm: Running, person: Visitor) -> None:
    """With the numbers, and in the audit; nothing was fetched twice here."""
    browser = person("operator")
    page = browser.page(f"/console/agent?name={KYOTO}")
    answer = browser.submit(page.form("/console/agent/compare"))
    assert answer.status_code == 200
    assert "Comparison with the logs of other agents" in read(answer.text).text
    (row,) = audit_page(prsm.manager.db, limit=1)
    assert (row.action, row.subject) == ("agent.compare", KYOTO)


def test_all_that_is_contradicted_is_a_file(prsm: Running, person: Visitor) -> None:
    """The page shows twenty pages; the file, which is made by one more comparison, has all."""
    db, layout, hour = prsm.manager.db, prsm.manager.layout, START_MS // HOUR_MS - 1
    urls = [f"http://www001.example1.jp:80/{number}" for number in range(25)]
    others = [prsm.agent(f"{name}.example", "sync").identity for name in ("a", "b", "c")]
    for identity, status in zip(others, (200, 404, 404), strict=True):
        add_log(db, layout, identity, hour - status % 7, [(url, status) for url in urls])
    browser = person("operator")
    asked = browser.act("/console/agent?name=a.example", "/console/agent/compare")
    page = read(asked.text)
    assert len([each for each in page.all("th") if "row" in each.attributes["scope"]]) == 20
    answer = browser.submit(page.form("/console/agent/contradicted.csv"))
    assert answer.headers["content-type"] == "text/csv; charset=utf-8"
    rows = list(csv.DictReader(io.StringIO(answer.text, newline="")))
    assert {row["page"] for row in rows} == set(urls)
    for row in rows:
        assert (row["its status"], row["status for others"]) == ("200", "404")
        assert (row["others that agree"], row["others that disagree"]) == ("0", "2")
    found = browser.submit(page.form("/console/agent/contradicted.json")).json()
    assert {(row["page"], row["its_status"], row["others_that_disagree"]) for row in found} == {
        (url, 200, 2) for url in urls
    }
    assert [row.action for row in audit_page(db, limit=3)] == ["agent.compare"] * 3


def test_a_large_file_comes_in_pieces(tmp_path: Path) -> None:
    """The archive is whole, and its folder is gone."""
    folder = tmp_path / "scratch"
    folder.mkdir()
    content = bytes(range(256)) * (3 * READ_BYTES // 256)
    (folder / "x").write_bytes(content)
    pieces = list(zip_pieces([ExportFile("logs/a", folder / "x")], folder))
    assert not folder.exists()
    with zipfile.ZipFile(io.BytesIO(b"".join(pieces))) as archive:
        assert archive.read("logs/a") == content
