"""`prs url`, `links` and `robots` print what the crawl would make of it, one line each."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from agent.cli import main


def prs(*words: str, typed: bytes | None = None) -> tuple[int, str, str]:
    """Return (exit code, output, errors) of a command in a home that does not exist."""
    result = CliRunner().invoke(main, ["--home", "/nonexistent/prs", *words], input=typed)
    return result.exit_code, result.stdout, result.stderr


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (
            ["HTTP://Www.Example.JP/a/../b?x#f"],
            "http://www.example.jp/b?x\thttp://www.example.jp:80/\tjp,example,www)/b?x",
        ),
        (
            ["../c", "--base", "https://a.jp/x/y/"],
            "https://a.jp/x/c\thttps://a.jp:443/\tjp,a)/x/c",
        ),
        (
            ["http://[::1]:8080/"],
            "http://[::1]:8080/\thttp://[::1]:8080/\t[::1]:8080)/",
        ),
    ],
)
def test_url(words: list[str], line: str) -> None:
    """Canonical form, host key and reversed-host key, with tabs between."""
    assert prs("url", *words) == (0, line + "\n", "")


@pytest.mark.parametrize("text", ["ftp://a.jp/", "http://", "mailto:a@b.jp", "http://u:p@a.jp/"])
def test_what_is_no_url_to_crawl(text: str) -> None:
    """Exit code 1 and the reason, nothing on standard output."""
    code, out, err = prs("url", text)
    assert (code, out) == (1, "")
    assert err.startswith("Error: ")


def test_links(tmp_path: Path) -> None:
    """The page's links in its order, resolved against `base`, each once."""
    page = b'<base href="/x/"><a href="a?q=1">1</a><a href="//b.jp">2</a><a href="a?q=1">3</a>'
    (tmp_path / "page.html").write_bytes(page)
    expected = "http://a.jp/x/a?q=1\nhttp://b.jp/\n"
    file = str(tmp_path / "page.html")
    assert prs("links", file, "--base", "http://a.jp/") == (0, expected, "")
    assert prs("links", "-", "--base", "http://a.jp/", typed=page) == (0, expected, "")


def test_links_in_the_encoding_of_the_page() -> None:
    """--content-type is what the server said; a text that is no HTML has no links."""
    page = '<a href="?q=日本">x</a>'.encode("shift_jis")
    kind = ("--content-type", "text/html; charset=Shift_JIS")
    code, out, _ = prs("links", "-", "--base", "http://a.jp/", *kind, typed=page)
    assert (code, out) == (0, "http://a.jp/?q=%93%FA%96{\n")
    kind = ("--content-type", "text/plain")
    assert prs("links", "-", "--base", "http://a.jp/", *kind, typed=page) == (0, "", "")


def test_links_need_a_base_that_is_a_url() -> None:
    """A base that nobody can crawl is refused."""
    code, out, err = prs("links", "-", "--base", "file:///x", typed=b"")
    assert (code, out) == (1, "")
    assert "only http and https" in err


def test_robots(tmp_path: Path) -> None:
    """One verdict a URL, in their order, the URL as it was given."""
    file = tmp_path / "robots.txt"
    file.write_bytes(b"User-agent: prs\nDisallow: /a\nAllow: /a/b\n")
    urls = ["http://a.jp/a", "http://A.jp/a/b?x", "http://a.jp/"]
    code, out, _ = prs("robots", str(file), "--agent", "PRS", *urls)
    assert code == 0
    assert out == f"deny\t{urls[0]}\nallow\t{urls[1]}\nallow\t{urls[2]}\n"


def test_wrong_use_is_exit_code_2(tmp_path: Path) -> None:
    """A missing argument, file or command is no refusal of ours."""
    assert prs("robots", str(tmp_path / "none"), "--agent", "PRS", "http://a.jp/")[0] == 2
    assert prs("links")[0] == 2
    assert prs("nothing")[0] == 2
    assert prs("--help")[0] == 0
