"""Sync, and names and keys."""

from __future__ import annotations

from datetime import datetime
from zoneinfo import ZoneInfo

import pytest
from pydantic import TypeAdapter, ValidationError

from shared.errors import FormatError
from shared.wire.names import check_agent_name, hash_of_key, new_key
from shared.wire.sync import EpochMs, SyncAnswer, SyncRequest
from shared.wire.sync_json import json_of, message_of, read_message

REQUEST = {
    "agent": "a1.example.jp",
    "boot_id": "b",
    "sequence": 1,
    "version": "0.1.0",
    "clock_ms": 1,
    "state": "idle",
}


def test_a_newer_side_may_say_more() -> None:
    """Fields that this version does not know are skipped."""
    assert message_of(SyncRequest, REQUEST | {"mood": "good"}).agent == "a1.example.jp"


def test_messages_survive_json() -> None:
    """What is sent is what is read."""
    request = message_of(SyncRequest, REQUEST)
    assert read_message(SyncRequest, json_of(request)) == request
    answer = SyncAnswer(server_time_ms=1, next_poll_s=60.0, round=1, generation=2)
    assert read_message(SyncAnswer, json_of(answer)) == answer


@pytest.mark.parametrize(
    "change",
    [
        {"agent": "../x"},
        {"agent": "a\n"},
        {"sequence": -1},
        {"state": "dreaming"},
        {"clock_ms": 2**60},
        {"next_contact_ms": 253_370_764_800_000},
        {"protocol": 0},
        {"finished": [{"unit": "u"}]},
        {"state_reason": "x" * 1001},
        {"capacity": {"parallel_hosts": 0}},
        {"capacity": {"weekday": [[0, 1441]]}},
        {"capacity": {"weekend": [[0, 1]] * 25}},
        {"capacity": {"interval_s": -1}},
        {"capacity": {"zone": "x" * 65}},
    ],
)
def test_what_is_out_of_range_is_refused(change: dict[str, object]) -> None:
    """Names, numbers and lengths have limits."""
    with pytest.raises(ValidationError):
        message_of(SyncRequest, REQUEST | change)


def test_every_time_that_may_be_said_can_be_shown() -> None:
    """Also by a calendar east of here; a time server that is wrong ends no process."""
    last = TypeAdapter(EpochMs).validate_python(253_370_764_799_999)
    for zone in ("Pacific/Kiritimati", "Etc/GMT+12"):
        assert datetime.fromtimestamp(last / 1000, ZoneInfo(zone)).year in (9998, 9999)
    with pytest.raises(ValidationError):
        TypeAdapter(EpochMs).validate_python(last + 1)


@pytest.mark.parametrize("name", ["", "A", "a/b", "a b", "a" * 254, "a\n", "é"])
def test_names_that_are_none(name: str) -> None:
    """A name is 1 to 253 of a-z 0-9 . and -."""
    with pytest.raises(FormatError):
        check_agent_name(name)


def test_keys_are_long_and_stored_as_hashes() -> None:
    """A key is 256 random bits; its hash is SHA-256."""
    assert len({new_key() for _ in range(100)}) == 100
    assert len(new_key()) >= 43
    assert hash_of_key("a") == ("ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb")
