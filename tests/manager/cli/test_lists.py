"""`prsm lists import`: files named for agents."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

from tests.manager.api.measured import A, B, crawled
from tests.manager.cli.conftest import Prsm
from tests.manager.running import Running


def owners(prsm: Prsm) -> dict[str, str]:
    """Return who owns each host."""
    hosts = json.loads(prsm("hosts", "list", "--json").stdout)["hosts"]
    return {host["key"]: host["owner"] for host in hosts}


def test_exported_lists_are_read_back(prsm: Prsm, manager: Running, tmp_path: Path) -> None:
    """Export, change all, import: the same assignment, and an audit row."""
    crawled(manager)
    before = owners(prsm)
    prsm("export", "lists", str(tmp_path / "out"))
    for host, owner in before.items():
        prsm("hosts", "pin", host, B if owner == A else A)
    assert owners(prsm) == {host: B if owner == A else A for host, owner in before.items()}
    said = prsm("lists", "import", *map(str, (tmp_path / "out" / "random").iterdir())).stdout
    assert f"{A}: 2 units pinned" in said
    assert f"{B}: 2 units pinned" in said
    assert owners(prsm) == before
    row = json.loads(prsm("audit", "--action", "list.", "--json").stdout)[0]
    assert json.loads(row["detail"])["agents"] == {A: 2, B: 2}


def test_bad_lines_are_shown(prsm: Prsm, manager: Running, tmp_path: Path) -> None:
    """Of all files, with their numbers; a file without an end of line does not run on."""
    crawled(manager)
    before = owners(prsm)
    (tmp_path / A).write_text("four.jp\n\nwhat is this")
    (tmp_path / B).write_text("two.jp:8080\nnew.jp\n")
    refused = prsm("lists", "import", str(tmp_path / A), str(tmp_path / B), code=1)
    assert "2 lines cannot be accepted, and nothing was changed" in refused.stderr
    assert f"{A}, line 3: " in refused.stderr
    assert f"{B}, line 2: http://new.jp:80/ is not known" in refused.stderr
    assert owners(prsm) == before


def test_a_list_from_elsewhere(prsm: Prsm, manager: Running, tmp_path: Path) -> None:
    """Standard input and other names with --agent; gzip, as an agent's own list is; new hosts."""
    crawled(manager)
    said = prsm("lists", "import", "-", "--agent", B, stdin=gzip.compress(b"two.jp:8080\n"))
    assert said.stdout == f"{B}: 1 unit pinned\n1 unit moved; 0 new hosts\n"
    file = tmp_path / "By hand.txt"
    file.write_text("new.jp\n")
    said = prsm("lists", "import", str(file), "--agent", A, "--add-hosts", "--json")
    assert json.loads(said.stdout) == {"agents": {A: 1}, "units": 1, "moved": 0, "new_hosts": 1}
    assert "--agent NAME" in prsm("lists", "import", str(file), code=2).stderr
    assert "--agent NAME" in prsm("lists", "import", "-", code=2).stderr
    both = prsm("lists", "import", str(file), str(file), "--agent", A, code=2)
    assert "lists of several agents" in both.stderr


def test_a_broken_archive_is_refused(prsm: Prsm, manager: Running, tmp_path: Path) -> None:
    """A gzip file that is cut short changes nothing."""
    crawled(manager)
    before = owners(prsm)
    (tmp_path / B).write_bytes(gzip.compress(b"two.jp:8080\n")[:-4])
    assert B in prsm("lists", "import", str(tmp_path / B), code=1).stderr
    assert owners(prsm) == before
