"""The examples of docs/protocol.md follow its rules: real programs run them, real readers read."""

from __future__ import annotations

import gzip
import json
import re
import subprocess
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import ClassVar

import pytest

from manager.agent_api.join import EnrolRequest
from manager.intake.logs.log_sections import Section
from shared.wire import crawl_log, server_list
from shared.wire.crawl_log import Comment, LogLine
from shared.wire.server_list import UrlLine
from tests.programs import program

PAGE = (Path(__file__).parents[3] / "docs" / "protocol.md").read_text()
SCRIPT = re.findall(r"```sh\n(.*?)```", PAGE, re.DOTALL)[0]
BODY = b"<html>" + bytes(range(256)) * 40 + b"</html>"


class Site(BaseHTTPRequestHandler):
    """A page whose size is known to the byte, with headers that a log has to escape."""

    heads: ClassVar[list[bytes]] = []
    answers: ClassVar[list[bytes]] = []

    def do_GET(self) -> None:
        line = f"{self.requestline}\r\n".encode()
        fields = "".join(f"{name}: {value}\r\n" for name, value in self.headers.items())
        self.heads.append(line + fields.encode() + b"\r\n")
        head = (
            b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n"
            b'X-Odd: a "quote", a \\ backslash, a comma\r\n'
            b"Content-Length: %d\r\nConnection: close\r\n\r\n" % len(BODY)
        )
        self.answers.append(head)
        self.wfile.write(head + BODY)
        self.close_connection = True

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture
def site() -> Iterator[str]:
    """Return the address of a site that serves one page everywhere."""
    Site.heads.clear()
    Site.answers.clear()
    server = ThreadingHTTPServer(("127.0.0.1", 0), Site)
    thread = threading.Thread(target=server.serve_forever, args=(0.05,))
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/"
    server.shutdown()
    server.server_close()
    thread.join()


def part(begin: str, end: str) -> str:
    """Return the lines of the script from one that begins so to one that begins so."""
    lines = SCRIPT.splitlines()
    first = next(at for at, line in enumerate(lines) if line.startswith(begin))
    last = next(at for at, line in enumerate(lines) if at >= first and line.startswith(end))
    return "\n".join(lines[first : last + 1])


def sh(words: str, folder: Path) -> None:
    subprocess.run(["sh", "-c", words], cwd=folder, check=True)


def test_the_log_of_the_example_has_sizes_with_headers(tmp_path: Path, site: str) -> None:
    """curl measures, the script writes, and the manager's reader finds the bytes that went."""
    (tmp_path / "list").write_text(f"#Round=1\n{site}\n{site}a/\thttp://b.jp/\n#Interval=20000\n")
    program("curl")
    sh(part("grep -v", "done").replace("sleep 20", "sleep 0"), tmp_path)
    body = gzip.compress((tmp_path / "log").read_bytes())
    entries = list(crawl_log.decode([body]))
    lines = [entry for entry in entries if isinstance(entry, LogLine)]
    assert [line.url for line in lines] == [site, f"{site}a/"]
    for line, head, answer in zip(lines, Site.heads, Site.answers, strict=True):
        assert line.request_bytes == len(head)
        assert line.response_bytes == len(answer) + len(BODY)
        assert line.headers == answer
        assert 0 <= line.elapsed_ms < 60_000
    finished = [entry.text for entry in entries if isinstance(entry, Comment)]
    assert finished == [f"Finished={site}", f"Finished={site}a/"]


def test_a_request_without_an_answer_is_a_line_too(tmp_path: Path) -> None:
    """Its headers are empty, and it costs nothing but time."""
    (tmp_path / "list").write_text("http://127.0.0.1:1/\n")
    program("curl")
    sh(part("grep -v", "done").replace("sleep 20", "sleep 0"), tmp_path)
    (line, _) = crawl_log.decode([gzip.compress((tmp_path / "log").read_bytes())])
    assert isinstance(line, LogLine)
    assert (line.url, line.response_bytes, line.headers) == ("http://127.0.0.1:1/", 0, b"")


def test_the_first_line_of_the_example_names_a_log(tmp_path: Path) -> None:
    """What the script would send is a name, LF and gzip."""
    (tmp_path / "log").write_text("#Finished=\n")
    words = part("{ printf '%s.%s", "{ printf '%s.%s").partition("| call")[0]
    sh(f"N=robot.example.ac.jp; {words} > body", tmp_path)
    first, _, rest = (tmp_path / "body").read_bytes().partition(b"\n")
    assert crawl_log.decode_name(first).agent == "robot.example.ac.jp"
    assert list(crawl_log.decode([rest])) == [Comment("Finished=")]


def test_the_found_hosts_of_the_example_are_a_list(tmp_path: Path) -> None:
    """One line, a URL and a referer."""
    words = part("printf 'http://www.found", "printf 'http://www.found").partition("| call")[0]
    sh(f"{words} > body", tmp_path)
    lines = list(server_list.decode([(tmp_path / "body").read_bytes()]))
    assert lines == [UrlLine("http://www.found.example.jp/", "http://where.example.jp/page")]


def test_the_bodies_of_enrolment_are_taken() -> None:
    """The one of the script and the one of the section on keys."""
    script = re.search(r"printf '(\{\"agent\".*?\})'", SCRIPT)
    assert script is not None
    said = script[1] % ("robot.example.ac.jp", "token", "0" * 64)
    assert EnrolRequest.model_validate_json(said).kind == "plain"
    block = re.search(r"POST /api/v1/enrol\n(\{.*?\})\n", PAGE, re.DOTALL)
    assert block is not None
    shown = re.sub(r"<[^>]+>", "0" * 64, block[1])
    assert EnrolRequest.model_validate(json.loads(shown)).kind == "plain"


def test_the_comments_of_the_page_are_those_of_the_reader() -> None:
    """Each optional comment of M3 sets something."""
    start = Section(0, 0)
    for comment in ("Round=3", "MaxTransfer=50", "Refetch=1", "Since=1000", "Until=2000"):
        assert f"#{comment.partition('=')[0]}=" in PAGE
        assert start.after(comment) != start
