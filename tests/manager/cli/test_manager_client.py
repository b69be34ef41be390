"""When no manager answers, the command says so, and what to do."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import httpx
import pytest
from click.testing import CliRunner

from manager.cli import main
from manager.cli.options import Place


def run(place: Place, *arguments: str) -> tuple[int, str]:
    result = CliRunner().invoke(main, list(arguments), obj=place)
    return result.exit_code, result.stderr


def test_no_manager_is_exit_code_3(tmp_path: Path) -> None:
    """A directory that nobody serves is exit code 3, with the command that starts a manager."""
    code, words = run(Place(tmp_path, None), "check")
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
    code, said = run(Place(tmp_path, None, httpx.MockTransport(failing(error))), "check")
    assert code == 3
    assert words in said


def test_a_dead_socket_is_exit_code_3(tmp_path: Path) -> None:
    """A socket that a killed manager left says that nobody listens."""
    (tmp_path / "prsm.sock").touch()
    transport = httpx.MockTransport(failing(httpx.ConnectError))
    code, said = run(Place(tmp_path, None, transport), "check")
    assert code == 3
    assert "nobody listens" in said


@pytest.mark.parametrize("body", [b"oops", b"[]", b'{"error": 1}'])
def test_an_answer_in_other_words(tmp_path: Path, body: bytes) -> None:
    """An error that does not say why, as of a proxy, is exit code 1 with its status."""
    transport = httpx.MockTransport(lambda _: httpx.Response(502, content=body))
    code, said = run(Place(tmp_path, None, transport), "check")
    assert (code, said) == (1, "Error: the manager answered 502 Bad Gateway\n")


def test_a_directory_with_bad_settings_is_a_usage_error(tmp_path: Path) -> None:
    """Settings that cannot be read are said before anybody is called."""
    (tmp_path / "prsm.toml").write_text("[server]\nsockt = 'x'\n")
    code, said = run(Place(tmp_path, None), "check")
    assert code == 2
    assert "did you mean server.socket?" in said
