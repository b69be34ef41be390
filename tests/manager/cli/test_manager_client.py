"""When no manager answers, the command says so, and what to do."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import httpx
import pytest
from click.testing import CliRunner

from manager.cli import main
from manager.cli.manager_client import RefusedError
from manager.cli.options import Target
from shared.errors import Fault, FormatError


def run(place: Target, *arguments: str) -> tuple[int, str]:
    result = CliRunner().invoke(main, list(arguments), obj=place)
    return result.exit_code, result.stderr


def test_no_manager_is_exit_code_3(tmp_path: Path) -> None:
    """A directory that nobody serves is exit code 3, with the command that starts a manager."""
    code, words = run(Target(tmp_path, None), "check")
    assert code == 3
    assert f"`prsm --data {tmp_path} serve`" in words


def failing(error: type[httpx.TransportError]) -> Callable[[httpx.Request], httpx.Response]:
    def fail(request: httpx.Request) -> httpx.Response:
        raise error("broken", request=request)

    return fail


@pytest.mark.parametrize(
    ("error", "words"),
    [(httpx.ConnectError, "another user"), (httpx.ReadError, "went away in the middle")],
)
def test_a_manager_that_goes_away_is_exit_code_3(
    tmp_path: Path, error: type[httpx.TransportError], words: str
) -> None:
    """A connection that cannot be made or breaks is told from a refusal."""
    code, said = run(Target(tmp_path, None, httpx.MockTransport(failing(error))), "check")
    assert code == 3
    assert words in said


def test_a_dead_socket_is_exit_code_3(tmp_path: Path) -> None:
    """A socket that a killed manager left says that nobody listens."""
    (tmp_path / "prsm.sock").touch()
    transport = httpx.MockTransport(failing(httpx.ConnectError))
    code, said = run(Target(tmp_path, None, transport), "check")
    assert code == 3
    assert "no manager listens" in said


@pytest.mark.parametrize("body", [b"oops", b"[]", b'{"error": 1}'])
def test_an_answer_in_other_words(tmp_path: Path, body: bytes) -> None:
    """An error that does not say why, as of a proxy, is exit code 1 with its status."""
    transport = httpx.MockTransport(lambda _: httpx.Response(502, content=body))
    code, said = run(Target(tmp_path, None, transport), "check")
    assert (code, said) == (1, "Error: the manager answered 502 Bad Gateway\n")


def test_a_directory_with_bad_settings_is_a_usage_error(tmp_path: Path) -> None:
    """Settings that cannot be read are said before anybody is called."""
    (tmp_path / "prsm.toml").write_text("[server]\nsockt = 'x'\n")
    code, said = run(Target(tmp_path, None), "check")
    assert code == 2
    assert "did you mean server.socket?" in said


PROBLEM = {
    "type": "urn:prsm:problem:plans.unknown",
    "title": "Not Found",
    "status": 404,
    "detail": "plan 7: not found",
    "code": "plans.unknown",
    "kind": "not_found",
    "params": {"plan": 7},
}


def test_a_refusal_by_the_manager_is_a_problem_for_programs(tmp_path: Path) -> None:
    """As the manager answered it, on standard error; without --json its sentence alone."""
    transport = httpx.MockTransport(lambda _: httpx.Response(404, json=PROBLEM))
    code, said = run(Target(tmp_path, None, transport), "hosts", "list", "--json")
    assert (code, json.loads(said)) == (1, PROBLEM)
    code, said = run(Target(tmp_path, None, transport), "hosts", "list")
    assert (code, said) == (1, "Error: plan 7: not found\n")


def test_an_answer_that_is_no_problem_has_a_sentence_for_programs(tmp_path: Path) -> None:
    """As that of a proxy."""
    transport = httpx.MockTransport(lambda _: httpx.Response(502, content=b"oops"))
    code, said = run(Target(tmp_path, None, transport), "hosts", "list", "--json")
    assert (code, json.loads(said)) == (1, {"detail": "the manager answered 502 Bad Gateway"})


def test_no_manager_is_a_problem_for_programs(tmp_path: Path) -> None:
    """With a code of its own."""
    code, said = run(Target(tmp_path, None), "hosts", "list", "--json")
    told = json.loads(said)
    assert (code, told["code"], told["kind"]) == (3, "unreachable", "unreachable")
    assert f"`prsm --data {tmp_path} serve`" in told["detail"]


def test_a_refusal_without_a_manager_is_a_problem_for_programs(tmp_path: Path) -> None:
    """By what the command does itself, as a backup of nothing."""
    arguments = ("backup", str(tmp_path / "b.tar"), "--json")
    code, said = run(Target(tmp_path / "nothing", None), *arguments)
    told = json.loads(said)
    assert code == 1
    assert {"detail", "code", "kind", "params"} <= set(told)
    assert run(Target(tmp_path / "nothing", None), *arguments[:-1]) == (
        1,
        f"Error: {told['detail']}\n",
    )


def test_a_local_refusal_has_code_and_parameters() -> None:
    """Of an error of ours; of another only its sentence."""
    error = FormatError(
        "requests.parameter_whole_number", Fault.INVALID_VALUE, name="limit", value="x"
    )
    assert RefusedError.of(error).problem == {
        "detail": "limit = 'x': must be a whole number, as 50",
        "code": "invalid_value",
        "kind": "format",
        "params": {"name": "limit", "value": "x"},
    }
    assert RefusedError.of(OSError("disk on fire")).problem == {"detail": "disk on fire"}
