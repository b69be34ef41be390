"""Bodies decode to so many times their size, and to so many lines, at most."""

from __future__ import annotations

import gzip
import os
import pickle
from pathlib import Path

import pytest

from manager.intake.body_decoding import FREE_BYTES, DecodingLimits, decode_body
from manager.intake.body_errors import BodyLimitError
from manager.intake.messages.discovery_reader import DiscoveredJob, FoundBody, read_discovered
from manager.intake.messages.list_check import ListJob, check_list
from shared.errors import Fault, FormatError, LimitError

LIMITS = DecodingLimits(10**9, 200, 1000, "limits.discovered_lines")


def discovered(folder: Path, body: bytes, limits: DecodingLimits = LIMITS) -> object:
    """Return what is read of a list, or why it is not."""
    (folder / "body").write_bytes(body)
    job = DiscoveredJob(folder / "body", folder / "found", limits, sender=1, cpu_s=60)
    try:
        return read_discovered(job)
    except (FormatError, LimitError) as error:
        return error


@pytest.mark.parametrize("members", [1, 12])
def test_a_body_that_decodes_to_too_much_is_refused(members: int) -> None:
    """Whether in one member or in many; the refusal has code, value, limit and setting."""
    body = gzip.compress(b"#\n" * (FREE_BYTES // members)) * members
    with pytest.raises(BodyLimitError) as caught:
        for _ in decode_body([body], LIMITS):
            pass
    error = caught.value
    assert (error.code, error.limit, error.setting) == (
        Fault.DECODED_RATIO, 200, "limits.decoded_ratio"
    )  # fmt: skip
    assert error.value > 200
    assert "limits.decoded_ratio" in str(error)
    assert str(error.remedy) in str(error)


def test_a_bomb_costs_what_comes_before_the_limit() -> None:
    """It is refused after little more than what is free."""
    member = gzip.compress(b"#\n" * 500_000)
    decoded_bytes = 0
    with pytest.raises(BodyLimitError):
        for piece in decode_body((member for _ in range(12_000)), LIMITS):
            decoded_bytes += len(piece)
    assert decoded_bytes < 1.5 * FREE_BYTES


def test_small_bodies_may_be_of_equal_lines() -> None:
    """The first megabytes have no ratio; behind them it is that of the whole body."""
    small = gzip.compress(b"http://a.example/\n" * 100_000)
    assert len(small) * 200 < sum(map(len, decode_body([small], LIMITS)))
    mixed = [os.urandom(60_000).hex().encode() + b"\n" * 100 for _ in range(200)]
    plain = b"".join(mixed)
    assert len(plain) > 2 * FREE_BYTES
    assert sum(map(len, decode_body([gzip.compress(plain)], LIMITS))) == len(plain)


@pytest.mark.parametrize("line", [b"#", b"# comment", b"#MaxTransfer=5", b"http://a.example/"])
def test_all_lines_count(tmp_path: Path, line: bytes) -> None:
    """Comments are lines; a body has as many as it may, and not one more, with or without LF."""
    assert isinstance(discovered(tmp_path, gzip.compress((line + b"\n") * 1000)), FoundBody)
    for body in ((line + b"\n") * 1001, (line + b"\n") * 1000 + line):
        refused = discovered(tmp_path, gzip.compress(body))
        assert isinstance(refused, BodyLimitError)
        assert (refused.code, refused.value) == (Fault.TOO_MANY_LINES, 1001)
        assert "1000 lines, comments included" in str(refused.message)


def test_a_refusal_goes_from_one_process_to_another() -> None:
    """Code, value, limit, setting and remedy are the same there."""
    error = BodyLimitError(Fault.CPU_LIMIT, 5, 5, "intake.log_cpu_s", line=7)
    there = pickle.loads(pickle.dumps(error))
    assert str(there) == str(error)
    assert str(there).startswith("line 7: ")
    assert vars(there) == vars(error)


def test_repeated_lines_are_known(tmp_path: Path) -> None:
    """A URL that comes again is counted, and entered once; what is no URL has its line."""
    body = gzip.compress(
        b"#x\nhttp://a.example/\nhttp://A.example:80/\tx\nftp://b/\n\nhttp://c.example/p\thttp://r/\n"
    )
    found = discovered(tmp_path, body)
    assert isinstance(found, FoundBody)
    assert (found.repeated, found.refused_count) == (1, 2)
    assert [one.line for one in found.refused_lines] == [4, 5]
    assert [one.code for one in found.refused_lines] == ["scheme", "malformed_line"]
    assert (tmp_path / "found").read_text() == (
        "http://a.example:80/\thttp://a.example:80/\t\n"
        "http://c.example:80/p\thttp://c.example:80/\thttp://r/\n"
    )


@pytest.mark.parametrize("at", [0, 3, 9])
def test_a_long_line_has_its_number(tmp_path: Path, at: int) -> None:
    """Also a comment, in the middle or at the end of a list without LF."""
    lines = [b"#short"] * 10
    lines[at] = b"#" * 20_000
    refused = discovered(tmp_path, gzip.compress(b"\n".join(lines)))
    assert isinstance(refused, LimitError)
    assert str(refused.message).startswith(f"line {at + 1}: longer than 16384 bytes")


def test_a_list_that_people_import_has_the_same_limits(tmp_path: Path) -> None:
    """A bomb is refused before anything is done with it; plain text has no ratio."""
    body = tmp_path / "body"
    body.write_bytes(gzip.compress(b"#\n" * FREE_BYTES))
    job = ListJob(body, LIMITS, cpu_s=60)
    with pytest.raises(BodyLimitError):
        check_list(job)
    body.write_bytes(b"http://a.example/\n" * 10_000)
    check_list(job)
