"""`prs-get` takes pages of hosts by jobs, follows changes, and deletes what was withdrawn."""

from __future__ import annotations

import io
import os
import signal
import time
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from manager.clock import wall_clock_ms
from shared.archive.verify import verify_segment
from tests.e2e.bad_line import bad_line
from tests.e2e.manager_process import ManagerProcess, prsm, running_manager
from tests.e2e.third_party import ThirdParty, new_token
from tests.manager.archived import arrived, hold, page, segment_bytes
from tests.manager.running import running

pytestmark = pytest.mark.e2e

ETL = "html/6700/9e/www.etl.go.jp:80.zip"
HOSTS = ("www.etl.go.jp", "www.example.jp", "other.example")
PAGES = 8
WAIT_S = 120.0


@pytest.fixture(scope="module")
def manager(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ManagerProcess]:
    """Serve three hosts, to tests that change nothing."""
    with running_manager(filled(tmp_path_factory.mktemp("centre") / "data")) as running_one:
        yield running_one


@pytest.fixture
def changing(tmp_path: Path) -> Iterator[ManagerProcess]:
    """Serve three hosts to one test, that withdraws one."""
    with running_manager(filled(tmp_path / "data")) as running_one:
        yield running_one


def filled(folder: Path) -> Path:
    """Fill a data directory with a segment of each of three hosts; return it."""
    folder.mkdir()
    with running(folder) as opened:
        agent = opened.agent()
        hold(opened, agent, *(f"http://{host}:80/" for host in HOSTS))
        opened.clock.now_ms = wall_clock_ms()
        for number, host in enumerate(HOSTS):
            pages = [
                page(f"http://{host}/{at}", os.urandom(40_000), mime="image/png")
                for at in range(PAGES)
            ]
            name = f"prsm-2026-{number}.warc.gz"
            opened.manager.archive.intake.accept(
                agent.identity, arrived(folder, segment_bytes(pages, name), name)
            )
    return folder


@pytest.fixture
def party(manager: ManagerProcess, tmp_path: Path) -> ThirdParty:
    """Return a third party that is logged in."""
    return logged_in(manager, tmp_path)


@pytest.fixture
def other_party(changing: ManagerProcess, tmp_path: Path) -> ThirdParty:
    """Return one at the manager that withdraws."""
    return logged_in(changing, tmp_path)


def logged_in(manager: ManagerProcess, folder: Path) -> ThirdParty:
    """Return a third party of a name of its own."""
    made = ThirdParty(folder / "party")
    made.folder.mkdir()
    made.login(manager.url, new_token(manager.data, folder.name.replace("_", "-")))
    return made


def hosts_of(party: ThirdParty) -> set[str]:
    return {Path(name).name.removesuffix(":80.zip") for name in party.files()}


@pytest.mark.slow
def test_the_layout_of_the_source(party: ThirdParty) -> None:
    """Hosts that match, each a zip where the source's sums say; again replaces them."""
    listed = party.run("hosts", "--match", r"(www|w3)[.].*:80", "--json").json
    assert [each["host"] for each in listed["hosts"]] == ["www.etl.go.jp:80", "www.example.jp:80"]
    assert {each["captures"] for each in listed["hosts"]} == {PAGES}
    header, first, *_ = party.run("hosts").out.splitlines()
    assert header == "host\tcaptures\tbytes\tfirst\tlast"
    assert first.startswith(f"www.etl.go.jp:80\t{PAGES}\t")
    planned = party.get("--host", "www.*", "--dry-run", "--json").json
    assert planned["selections"] == [{"host": "www.*", "hosts": 2, "captures": 2 * PAGES}]
    assert party.files() == {}
    told = party.get("--host", "www.*", "--json").json
    assert {each["place"] for each in told["files"]} == set(party.files())
    assert hosts_of(party) == {"www.etl.go.jp", "www.example.jp"}
    with zipfile.ZipFile(io.BytesIO(party.files()[ETL])) as inner:
        assert inner.testzip() is None
        assert inner.read("transferredurl.list").splitlines()[0] == b"/0"
        assert len(inner.read("data/1")) == 40_000
    party.get("--host", "other.*", "--host", "www[.]etl.*", "-j", "2")
    assert hosts_of(party) == set(HOSTS)
    assert [path.name for path in (party.taken / ".prs-get").glob("job-*")] == []
    assert list((party.taken / ".prs-get/parts").iterdir()) == []


def test_conditions_and_warc(party: ThirdParty) -> None:
    """WARC is one file that is whole; the same question again replaces it."""
    party.get("--host", "other.*", "--format", "warc")
    (name,) = party.files()
    assert name.startswith("warc/pages-")
    before = (party.taken / name).stat().st_ino
    party.get("--host", "other.*", "--format", "warc")
    assert list(party.files()) == [name]
    assert (party.taken / name).stat().st_ino != before
    assert verify_segment(party.taken / name).captures == PAGES


def test_hosts_by_name_and_by_domain(party: ThirdParty) -> None:
    """A name matches without its port; a domain matches with all names below it."""
    for arguments, found in (
        (("--host", "www[.]example[.]jp"), ["www.example.jp:80"]),
        (("--host", "www[.]example[.]jp:80"), ["www.example.jp:80"]),
        (("--host", "^www[.]example[.]jp$"), ["www.example.jp:80"]),
        (("--host", "WWW.Example.jp."), ["www.example.jp:80"]),
        (("--host", "http://www.example.jp/"), ["www.example.jp:80"]),
        (("--domain", "*.Example.jp"), ["www.example.jp:80"]),
        (("--domain", "example.jp"), ["www.example.jp:80"]),
        (("--domain", "www.example.jp", "--host", "www.etl.*"),
         ["www.etl.go.jp:80", "www.example.jp:80"]),
    ):  # fmt: skip
        listed = party.run("hosts", *arguments, "--json").json["hosts"]
        assert [each["host"] for each in listed if each["host"].startswith("www")] == found
        assert party.run("get", *arguments, "--dry-run", "-o", str(party.taken)).code == 0


def test_a_question_that_nothing_matches_is_said(party: ThirdParty) -> None:
    """Exit code 3, by name; what the other questions match is taken nevertheless."""
    told = party.run("hosts", "--domain", "nowhere.example")
    assert (told.code, told.out) == (3, "")
    assert "no host matches nowhere.example" in told.err
    for form in ("zip", "warc"):
        told = party.run(
            "get", "--host", ".*", "--until", "2001", "--format", form, "-o", str(party.taken)
        )
        assert (told.code, party.files()) == (3, {}), told.err
    for more in ((), ("--json",)):
        dry = party.run("get", "--host", "none", "--dry-run", *more, "-o", str(party.taken))
        assert dry.code == 3
        assert "none" in dry.out
    told = party.run("get", "--host", "none", "--host", "www[.]etl.*", "-o", str(party.taken))
    assert told.code == 3
    assert "nothing matches none" in told.err
    assert hosts_of(party) == {"www.etl.go.jp"}


def test_bad_questions(party: ThirdParty) -> None:
    """The server's sentence, and the code of a refusal; nothing waits for the next run."""
    for arguments, said in (
        (("--host", "("), "missing )"),
        (("--host", ".*", "--since", "soon"), "since ="),
        (("--host", "x" * 1001), "the limit is 1000"),
    ):
        assert said in party.get(*arguments, code=1).err
    assert [path.name for path in (party.taken / ".prs-get").glob("job-*")] == []
    assert party.run("get", "--host", ".*").code == 2


def test_killed_while_it_comes(party: ThirdParty, manager: ManagerProcess) -> None:
    """The next run takes up the same job and goes on at the byte."""
    with bad_line(manager.port, slow_s=0.05) as line:
        party.login(line.url, new_token(manager.data, "slow"))
        run = party.start("get", "--host", ".*", "-o", str(party.taken))
        parts = party.taken / ".prs-get/parts"
        give_up = time.monotonic() + WAIT_S
        while not parts.exists() or sum(each.stat().st_size for each in parts.iterdir()) < 200_000:
            assert run.poll() is None, run.communicate()
            assert time.monotonic() < give_up, "it does not come"
            time.sleep(0.02)
        run.send_signal(signal.SIGKILL)
        run.communicate()
        assert party.files() == {}
        (note,) = (party.taken / ".prs-get").glob("job-*")
        job = note.read_text().split('"jobtoken": "')[1].split('"')[0]
        line.slow_s = 0
        before = line.sent_bytes
        party.get("--host", ".*")
        assert hosts_of(party) == set(HOSTS)
        size = sum(len(each) for each in party.files().values())
        assert line.sent_bytes - before < size - 100_000
        with manager.client(headers={"Authorization": f"Bearer {token_of(party)}"}) as client:
            jobs = client.get("wasapi/v1/jobs").json()["jobs"]
        assert [each["jobtoken"] for each in jobs] == [job]


@pytest.mark.slow
def test_what_is_withdrawn_is_deleted(other_party: ThirdParty, changing: ManagerProcess) -> None:
    """Segments and zips of a host that was excluded go at the next run; others stay."""
    party, manager = other_party, changing
    party.get("--host", ".*")
    party.get("--format", "warc")
    party.get("--format", "warc", "--host", "www.*")
    before = party.files()
    (selected,) = (name for name in before if name.startswith("warc/pages-"))
    assert len(before) == 7
    prsm(manager.data, "hosts", "exclude", "other.example", "--reason", "asked to")
    told = party.get("--format", "warc", "--json").json
    assert sorted(told["deleted"]) == sorted(
        name for name in before if "other.example" in name or "2026-2" in name
    )
    assert told["outdated"] == [selected]
    assert len(party.files()) == 5
    log = (party.taken / ".prs-get/withdrawn.log").read_text()
    assert "other.example:80.zip" in log
    assert party.get("--host", ".*", "--json").json["deleted"] == []
    assert hosts_of(party) >= {"www.etl.go.jp", "www.example.jp"}


def test_changes_are_followed(other_party: ThirdParty, changing: ManagerProcess) -> None:
    """Behind a cursor in a file, each change once; a cursor that is none has its own code."""
    party, manager = other_party, changing
    cursor = party.folder / "cursor"
    follow = ("changes", "--follow", str(cursor))
    assert party.run(*follow).out == ""
    prsm(manager.data, "hosts", "exclude", "other.example", "--reason", "asked to")
    (line,) = party.run(*follow).out.splitlines()
    assert line.split("\t")[2:4] == ["deleted", "prsm-2026-2-a.example.warc.gz"]
    assert party.run(*follow).out == ""
    all_of_them = party.run("changes", "--since", "2001", "--json").json
    assert [each["what"] for each in all_of_them["changes"]] == ["created"] * 3 + ["deleted"]
    cursor.write_text("7.aaaaaaaaaaaaaaaaaaaaaa\n")
    damaged = party.run(*follow, "--json")
    assert (damaged.code, damaged.json["exit"]) == (8, 8)


def test_a_token_for_pages_only(party: ThirdParty, manager: ManagerProcess) -> None:
    """It takes pages, is told what it does not follow, and may not take segments."""
    token = new_token(manager.data, "narrow", "--scope", "pages")
    assert "opens pages;" in party.login(manager.url, token).out
    done = party.get("--host", "other.*")
    assert "withdrawals are not followed" in done.err
    assert "this needs segments" in party.get("--format", "warc", code=4).err


def token_of(party: ThirdParty) -> str:
    return (party.folder / "login/login.json").read_text().split('"token": "')[1].split('"')[0]
