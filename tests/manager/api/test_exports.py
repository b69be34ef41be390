"""The files of the source, byte for byte, and what the source's own scripts would make of them."""

from __future__ import annotations

import io
import json
import tarfile
from collections import defaultdict
from pathlib import Path
from typing import Any, Final

import pytest

from manager.operations.fleet.agents import retire
from manager.operations.logs.source_files import ExportFile, export
from tests.manager.api.measured import A, B, crawled
from tests.manager.running import LOCAL, Running, running

GOLDEN: Final = {
    "log-sums": {
        f"logs/{A}": (
            "http://two.jp:8080/ 2.300 23\n"
            "http://two.jp:8080/p?q=1 3.000 30\n"
            "http://two.jp:8080/robots.txt 0.200 2\n"
            "https://three.jp/ 2.300 23\n"
            "https://three.jp/p?q=1 3.000 30\n"
            "https://three.jp/robots.txt 0.200 2\n"
        ),
        f"logs/{B}": (
            "http://four.jp/ 2.300 46\n"
            "http://four.jp/p?q=1 3.000 60\n"
            "http://four.jp/robots.txt 0.200 4\n"
            "http://www.one.jp/ 2.300 46\n"
            "http://www.one.jp/p?q=1 3.000 60\n"
            "http://www.one.jp/robots.txt 0.200 4\n"
        ),
    },
    "distances": {
        f"distance/{A}": "two.jp:8080 10.000000\nhttps://three.jp/ 10.000000\n",
        f"distance/{B}": "four.jp 20.000000\nwww.one.jp 20.000000\n",
    },
    "volumes": {
        "document.txt": (
            "four.jp 5.500\ntwo.jp:8080 5.500\nwww.one.jp 5.500\nhttps://three.jp/ 5.500\n"
        )
    },
    "costs": {
        f"cost/{A}": "two.jp:8080 55.000\nhttps://three.jp/ 55.000\n",
        f"cost/{B}": "four.jp 110.000\nwww.one.jp 110.000\n",
        "agents.txt": f"{A}:110.000:2\n{B}:220.000:2\n",
    },
    "lists": {
        f"random/{A}": "two.jp:8080\nhttps://three.jp/\n",
        f"random/{B}": "four.jp\nwww.one.jp\n",
        "agents.txt": f"{A}:110.000:2\n{B}:220.000:2\n",
    },
}
"""Two agents that have crawled two hosts each: see `measured`."""


def exported(prsm: Running, kind: str) -> dict[str, str]:
    """Return the files of an export by name."""
    answer = prsm.local.post(f"/api/v1/export/{kind}")
    assert answer.status_code == 200, answer.text
    assert int(answer.headers["content-length"]) == len(answer.content)
    with tarfile.open(fileobj=io.BytesIO(answer.content)) as archive:
        found = {}
        for member in archive:
            body = archive.extractfile(member)
            assert body is not None
            found[member.name] = body.read().decode()
        return found


def test_the_files_are_those_of_the_source(prsm: Running) -> None:
    """Names, words and their order as seed 004, 5.2.2 says; nothing is left in the spool."""
    crawled(prsm)
    assert {kind: exported(prsm, kind) for kind in GOLDEN} == GOLDEN
    assert prsm.files("spool") == []


def test_each_export_is_in_the_audit(prsm: Running) -> None:
    """Who took which files, and how many."""
    crawled(prsm)
    exported(prsm, "costs")
    row = prsm.local.get("/api/v1/audit?action=export.").json()[0]
    assert (row["action"], json.loads(row["detail"])) == ("export.costs", {"files": 3})


def test_the_scripts_of_the_source_agree_with_the_manager(prsm: Running) -> None:
    """From `logs/` alone, get_distance, get_document and get_cost give our other files."""
    crawled(prsm)
    volumes: dict[str, float] = defaultdict(float)
    distances: dict[tuple[str, str], float] = {}
    for name, text in exported(prsm, "log-sums").items():
        agent = name.removeprefix("logs/")
        ms: dict[str, float] = defaultdict(float)
        kb: dict[str, float] = defaultdict(float)
        for line in text.splitlines():
            url, size, time = line.split(" ")
            server = url[: url.index("/", 8)].removeprefix("http://")
            ms[server] += int(time)
            kb[server] += float(size)
        for server, volume in kb.items():
            distances[agent, server] = ms[server] / volume
            volumes[server] += volume

    def read(kind: str) -> dict[tuple[str, str], float]:
        return {
            (name.rpartition("/")[2], line.split(" ")[0].rstrip("/")): float(line.split(" ")[1])
            for name, text in exported(prsm, kind).items()
            if name != "agents.txt"
            for line in text.splitlines()
        }

    assert {server: kb for (_, server), kb in read("volumes").items()} == pytest.approx(volumes)
    assert read("distances") == pytest.approx(distances)
    assert read("costs") == pytest.approx(
        {(agent, server): d * volumes[server] for (agent, server), d in distances.items()}
    )


def test_before_anything_was_measured_files_are_empty(prsm: Running) -> None:
    """An agent that joined has its files; one that was retired has none."""
    prsm.agent(A)
    prsm.agent(B)
    retire(prsm.manager.db, B, LOCAL, prsm.clock())
    assert exported(prsm, "log-sums") == {f"logs/{A}": ""}
    assert exported(prsm, "volumes") == {"document.txt": ""}
    assert exported(prsm, "lists") == {f"random/{A}": "", "agents.txt": f"{A}:0.000:0\n"}


def test_an_unknown_kind_is_refused_in_words(prsm: Running) -> None:
    """With the kinds that there are."""
    answer = prsm.local.post("/api/v1/export/maps")
    assert answer.status_code == 404
    assert "log-sums, distances, volumes, costs, lists" in answer.json()["detail"]


def test_only_operators_export(prsm: Running) -> None:
    """Nobody without a session does."""
    assert prsm.anybody.post("/api/v1/export/lists").status_code == 401


def test_a_link_exports_nothing(prsm: Running) -> None:
    """What is audited and takes the only turn is no GET, which any page may make a browser send."""
    assert prsm.local.get("/api/v1/export/lists").status_code == 405
    assert prsm.local.get("/api/v1/audit?action=export.").json() == []


def test_a_log_that_is_gone_is_named(prsm: Running) -> None:
    """No export that is a part of the truth: it is refused before its first byte."""
    crawled(prsm)
    prsm.files("logs")[0].unlink()
    answer = prsm.local.post("/api/v1/export/log-sums")
    assert answer.status_code == 409
    assert "prsm check" in answer.json()["detail"]
    assert prsm.files("spool") == []


def test_a_name_that_cannot_be_a_files_is_refused(prsm: Running) -> None:
    """An agent may be called `..`, a file may not."""
    prsm.agent("..")
    assert prsm.local.post("/api/v1/export/lists").status_code == 409


def test_a_disk_without_room_is_said(tmp_path: Path) -> None:
    """And the turn is given back: the second is refused for the disk again, not as too early."""
    with running(tmp_path, f"limits.reserve_bytes={10**12}") as full:
        for _ in range(2):
            refused = full.local.post("/api/v1/export/lists")
            assert refused.status_code == 503
            assert "reserve_bytes" in refused.json()["detail"]


def test_one_export_at_a_time(prsm: Running, monkeypatch: pytest.MonkeyPatch) -> None:
    """Who comes in the middle of another is told to try again."""
    inner: list[int] = []

    def asks_again(*arguments: Any) -> list[ExportFile]:
        inner.append(prsm.local.post("/api/v1/export/lists").status_code)
        return export(*arguments)

    monkeypatch.setattr("manager.operations.logs.source_files.export", asks_again)
    assert prsm.local.post("/api/v1/export/lists").status_code == 200
    assert inner == [503]
