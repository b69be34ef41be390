"""Samples of every message, kept as they were sent: each later version has to read them.

A folder for each number of the protocol. What was sent is never lost: an agent that was installed
years ago says exactly this. The fullest samples name every field that there is, so a field that was
added without one fails here; as they were before, they stay beside it (`before_`).
"""

from __future__ import annotations

import json
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any, cast, get_args, get_type_hints

import pytest

from shared.wire import crawl_log, orders, server_list
from shared.wire.sync import OrderReport, SyncAnswer, SyncRequest, said
from shared.wire.sync_json import json_of, message_of
from shared.wire.sync_reading import read_answer

FREE = frozenset(("state_message", "update_message", "result_message"))
"""Objects without fields of their own: codes and parameters of messages."""
FOLDERS = sorted(Path(__file__).parent.glob("protocol_*"))


@pytest.fixture(params=FOLDERS, ids=lambda folder: folder.name)
def folder(request: pytest.FixtureRequest) -> Path:
    """The samples of one number of the protocol."""
    found: Path = request.param
    return found


def _sample(folder: Path, name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((folder / f"{name}.json").read_text())
    return found


def _fields(model: type, before: str = "") -> set[str]:
    """Return the names of all fields of a message and of what is in it, as `permit.epoch`."""
    found = set()
    hints = get_type_hints(model)
    for field in fields(model):
        found.add(before + field.name)
        for part in _parts(hints[field.name]):
            found |= _fields(part, f"{before}{field.name}.")
    return found


def _of_sample(value: Any, sample: Any) -> Any:
    """Return the values of those fields that a sample has."""
    if isinstance(sample, dict) and isinstance(value, dict):
        return {name: _of_sample(value.get(name), one) for name, one in sample.items()}
    if isinstance(sample, list) and isinstance(value, list) and len(sample) == len(value):
        return [_of_sample(*pair) for pair in zip(value, sample, strict=True)]
    return value


def _parts(annotation: Any) -> list[type]:
    if is_dataclass(annotation):
        return [cast("type", annotation)]
    return [part for one in get_args(annotation) for part in _parts(one)]


def _said(value: Any, before: str = "") -> set[str]:
    """Return the names of all fields that a sample has."""
    if isinstance(value, list):
        return set().union(*(_said(one, before) for one in value))
    if not isinstance(value, dict):
        return set()
    return set().union(
        *(
            {before + name} | (set() if name in FREE else _said(one, f"{before}{name}."))
            for name, one in value.items()
        )
    )


@pytest.mark.parametrize(
    "name",
    [
        "sync_request_least",
        "sync_request_before_kinds",
        "sync_request_before_messages",
        "sync_request_before_update_message",
        "sync_request_before_scope",
        "sync_request_before_crawl_delay",
        "sync_request_before_reopens",
        "sync_request_most",
    ],
)
def test_a_manager_understands_what_agents_said(folder: Path, name: str) -> None:
    """Each value of a request is what the agent said, and none was left out."""
    sample = _sample(folder, name)
    request = message_of(SyncRequest, sample)
    assert _of_sample(json.loads(json_of(request)), sample) == sample


@pytest.mark.parametrize(
    "name", ["sync_answer_least", "sync_answer_before_scope", "sync_answer_most"]
)
def test_agents_understand_what_a_manager_said(folder: Path, name: str) -> None:
    """Both readers of an answer, the manager's models and the agent's own, read the same."""
    sample = _sample(folder, name)
    answer = message_of(SyncAnswer, sample)
    assert _of_sample(json.loads(json_of(answer)), sample) == sample
    assert read_answer(json.dumps(sample).encode()) == answer
    assert message_of(SyncAnswer, said(answer)) == answer


@pytest.mark.parametrize("name", ["order_report", "order_report_before_message"])
def test_a_report_of_an_order_is_understood(folder: Path, name: str) -> None:
    """As the others."""
    sample = _sample(folder, name)
    assert _of_sample(json.loads(json_of(message_of(OrderReport, sample))), sample) == sample


@pytest.mark.parametrize(
    ("name", "model"),
    [
        ("sync_request_most", SyncRequest),
        ("sync_answer_most", SyncAnswer),
        ("order_report", OrderReport),
    ],
)
def test_the_fullest_samples_have_every_field(name: str, model: type) -> None:
    """A field that was added since has a sample, in a folder of its own where the number grew."""
    there = set().union(*(_said(_sample(folder, name)) for folder in FOLDERS))
    assert there == _fields(model)


@pytest.mark.parametrize("name", ["sync_request_most", "sync_answer_most"])
def test_what_tomorrow_adds_is_skipped(folder: Path, name: str) -> None:
    """A newer side says more, at any depth: today's reads what it knows."""

    def later(value: Any) -> Any:
        if isinstance(value, list):
            return [later(one) for one in value]
        if isinstance(value, dict):
            known = {key: one if key in FREE else later(one) for key, one in value.items()}
            return known | {"of_tomorrow": [{"x": 1}]}
        return value

    sample = _sample(folder, name)
    model = SyncRequest if "request" in name else SyncAnswer
    assert message_of(model, later(sample)) == message_of(model, sample)
    if model is SyncAnswer:
        assert read_answer(json.dumps(later(sample)).encode()) == read_answer(
            json.dumps(sample).encode()
        )


def test_a_list_is_understood(folder: Path) -> None:
    """M1: probe, piece of a split host, start pages, pages to be fetched again."""
    head, probe, piece, start, again = orders.orders(
        server_list.decode_plain([(folder / "list.txt").read_bytes()])
    )
    assert head == orders.ListHead(round=3, generation=42, lease_s=93600)
    assert probe == orders.Order("http://h1.jp:80/", max_transfer=50, interval_ms=20000)
    assert piece == orders.Order(
        "http://h2.jp:80/",
        interval_ms=20000,
        excepted=("/~koji/",),
        share=4,
        starts=(("/~mari/x/", "http://h1.jp:80/"),),
    )
    assert start == orders.Order("http://h2.jp:80/start.html", "http://h1.jp:80/links.html")
    assert again == orders.Order("http://h3.jp:80/", only=("/x.html",))
    assert [one.kind for one in (probe, piece, again)] == ["probe", "crawl", "refetch"]


def test_a_log_is_understood(folder: Path) -> None:
    """M3: comments and lines as they were, bytes that are no text among them."""
    lines = (folder / "log.txt").read_bytes().splitlines()
    read = [crawl_log.decode_line(number, line) for number, line in enumerate(lines, 2)]
    comments = [one.text for one in read if isinstance(one, crawl_log.Comment)]
    assert comments == [
        *("Since=1767222000000", "Until=1767225600000", "Round=3"),
        *("MaxTransfer=50", "MaxTransfer=0", "Refetch=1"),
    ]
    silent, page, gone = (one for one in read if isinstance(one, crawl_log.LogLine))
    assert silent == crawl_log.LogLine(
        "http://h1.jp:80/robots.txt", 120, 0, 30000, b"X-Crawl-Outcome: timeout\r\n"
    )
    assert page.headers.startswith(b'HTTP/1.1 200 OK\r\nX: \xe3"\r\nX-Crawl-Time: ')
    assert (page.request_bytes, page.response_bytes, page.elapsed_ms) == (130, 5120, 87)
    assert gone.url == "http://h3.jp:80/x.html"
