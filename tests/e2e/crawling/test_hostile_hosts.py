"""Every hostile host that others wrote down, at once, among good ones: the crawl ends, whole."""

from __future__ import annotations

import json
import subprocess
from collections import Counter
from pathlib import Path

import pytest

from benchmarks.hostile.__main__ import hostile_web
from benchmarks.hostile.server import good_address, good_paths, hostile_addresses
from benchmarks.hostile.traps import FIXTURES
from shared.archive.reader import iter_captures
from tests.agent.app.fake_manager import FakeManager
from tools.demo.system import BIN, Agent

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(900)]

GOOD, PAGES = 10, 12
SETTINGS = """\
[robot]
contact = "test@example.org"

[links]
disabled_kinds = ["well_known"]

[politeness]
interval_s = 0.1
fast_host_interval_s = 0.1
delay_factor = 0.0

[limits]
first_byte_s = 3.0
total_s = 4.0
retries = 0
pages_per_unit = 20

[network]
parallel_hosts = 300

[dns]
allowed_networks = ["127.0.0.0/8"]

[disk]
reserve_bytes = 1000000

[reports]
log_interval_s = 0.5
"""


def segments_of(home: Path) -> list[Path]:
    """Return the WARC files of an agent, also the open one."""
    found = sorted((home / "crawl" / "segments").glob("*.warc.gz*"))
    return [path for path in found if "links" not in path.name]


def kept(home: Path) -> Counter[str]:
    """Return how often each URL lies in the segments, whatever its answer was."""
    found: Counter[str] = Counter()
    for path in segments_of(home):
        with path.open("rb") as file:
            found.update(stored.capture.url for stored in iter_captures(file))
    return found


@pytest.mark.slow
def test_the_crawl_ends_and_good_pages_are_kept(tmp_path: Path) -> None:
    """Traps, broken answers, bombs: each host is done, every good page is archived once."""
    if not FIXTURES.is_dir():
        pytest.skip(f"no {FIXTURES}")
    addresses = [good_address(number) for number in range(GOOD)] + list(hostile_addresses())
    assert len(addresses) > GOOD + 150
    with (
        hostile_web(GOOD, PAGES, [""], log=tmp_path / "requests.log") as port,
        FakeManager() as manager,
    ):
        agent = Agent(tmp_path / "prs", manager.name, SETTINGS).enrol(manager.url, manager.token)
        units = [f"http://{address}:{port}/" for address in addresses]
        manager.give(*units)
        agent.program.words = ["prs", "run", "--once"]
        agent.program.start()
        try:
            assert agent.program.process is not None
            status = agent.program.process.wait(800)
        finally:
            agent.stop()
        assert status == 0, agent.program.log.read_text()[-2000:]
        assert set(manager.finished) == set(units)
        told = {one.reason for one in manager.syncs[-1].counters.stopped}
    captures = kept(tmp_path / "prs")
    for number in range(GOOD):
        top = f"http://{good_address(number)}:{port}"
        assert [captures[top + path] for path in good_paths(PAGES)] == [1] * PAGES
    hostile = Counter(url.split("/")[2] for url in captures if "//127.31." in url)
    assert max(hostile.values()) <= 20 + 2  # its robots.txt, and one more that was under way
    assert {"path repeats itself", "escapes grow", "page limit"} <= told
    shown = json.loads(agent.prs("status", "--json"))["status"]["not_fetched"]
    assert all(shown[reason]["examples"] for reason in told)
    for segment in segments_of(tmp_path / "prs"):
        # Not warcio: it fails on the br bodies that some of these hosts send unasked.
        checked = subprocess.run(
            [str(BIN / "fastwarc"), "check", str(segment)], capture_output=True, check=False
        )
        assert checked.returncode == 0, checked.stdout
