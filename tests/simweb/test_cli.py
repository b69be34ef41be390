"""The commands: plan, expected URLs, verdicts and their exit codes. No sockets."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from simweb.cli import main
from simweb.sites.builder import build_world
from simweb.sites.expectation import expect_world
from simweb.sites.options import WorldOptions

WORLD = ["--hosts", "8", "--seed", "3", "--pages-mean", "5"]
OPTIONS = WorldOptions(hosts=8, seed=3, pages_mean=5)


def run(*arguments: str | int | Path) -> Result:
    """Run a command."""
    return CliRunner().invoke(main, [str(argument) for argument in arguments])


def log_of(path: Path, gap_ms: float) -> Path:
    """Write a log of two requests."""
    events = []
    for number, start in enumerate((0.0, 0.01 + gap_ms / 1_000)):
        names = {"connection": number, "client": "127.10.0.1", "server": "127.20.0.1"}
        events.append({"event": "open", "mono": start, **names})
        events.append(
            {
                "event": "request",
                **names,
                "mono_start": start,
                "mono_end": start + 0.01,
                "host": "a.test",
                "method": "GET",
                "path": "/robots.txt" if not number else "/",
                "user_agent": "PRSM",
                "disallowed": False,
                "reused": False,
            }
        )
    path.write_text("".join(json.dumps(event) + "\n" for event in events))
    return path


def test_the_plan_is_written(tmp_path: Path) -> None:
    """Seeds, hosts with their counts, addresses; options that build the same world again."""
    result = run(*WORLD, "--plan-only", "--write", tmp_path, "--write-urls", "--seeds", 2)
    assert result.exit_code == 0, result.output
    assert result.output.startswith("PLANNED ")
    plan = json.loads((tmp_path / "hosts.json").read_text())
    world = build_world(WorldOptions.from_json(plan["options"]))
    assert (tmp_path / "seeds.txt").read_text().split() == [h.url(80) for h in world.seeds]
    assert (tmp_path / "addresses.txt").read_text().split() == world.addresses()
    captures = set()
    for host, row in zip(world.hosts, plan["hosts"], strict=True):
        assert (row["name"], row["address"], row["pages"]) == (host.name, host.address, host.pages)
        found = {kind: set(urls) for kind, urls in row["urls"].items()}
        good = found.get("capture", set()) | found.get("retry", set()) | found.get("slow", set())
        assert len(good) == row["expected_captures"]
        captures |= good
    assert captures == expect_world(world, 80).captures


def test_a_plan_needs_a_place() -> None:
    """The remedy is in the message."""
    result = run("--plan-only")
    assert result.exit_code == 1
    assert "--write DIR" in result.output


def test_expected_urls_are_printed() -> None:
    """All captures, those of one host, those of one outcome, or counts."""
    world = build_world(OPTIONS)
    assert (
        set(run("expect", *WORLD, "--port", 99).output.split()) == expect_world(world, 99).captures
    )
    name = world.hosts[0].name
    urls = run("expect", *WORLD, "--host", name).output.split()
    assert urls
    assert all(url.startswith(f"http://{name}/") for url in urls)
    counts = json.loads(run("expect", *WORLD, "--count").output)
    denied = run("expect", *WORLD, "--outcome", "denied").output.split()
    assert len(denied) == counts["denied"]
    assert "no such host" in run("expect", *WORLD, "--host", "nobody").output


def test_wrong_options_end_with_a_reason() -> None:
    """Not with a traceback."""
    for result in (run("--hosts", "0"), run("expect", "--hosts", "0"), run("--domain", "A b")):
        assert result.exit_code == 1
        assert result.output.startswith("Error: ")


def test_a_polite_log_exits_with_0_and_a_rude_one_with_1(tmp_path: Path) -> None:
    """So that a script can ask."""
    polite = run("judge", log_of(tmp_path / "a", 200), "--interval-ms", 100)
    assert polite.exit_code == 0, polite.output
    rude = run("judge", log_of(tmp_path / "b", 50), "--interval-ms", 100, "--json")
    assert rude.exit_code == 1
    assert json.loads(rude.output)["violations"]["too_close"] == 1


def test_intervals_of_hosts_are_read_from_a_file(tmp_path: Path) -> None:
    """Names and milliseconds; a line that is neither is named."""
    log, intervals = log_of(tmp_path / "log", 50), tmp_path / "intervals"
    intervals.write_text("# fast hosts\nA.test 40 # fast\n\n")
    arguments = ("judge", log, "--interval-ms", 100, "--interval-of-host", intervals)
    assert run(*arguments).exit_code == 0
    intervals.write_text("a.test\n")
    result = run(*arguments)
    assert result.exit_code == 1
    assert "line 1" in result.output


@pytest.mark.parametrize("text", ["", "--trouble", "redirect-loop", "dns-tcp"])
def test_faults_are_listed(text: str) -> None:
    """Every kind with its rate, outcome and meaning."""
    assert text in run("faults").output
