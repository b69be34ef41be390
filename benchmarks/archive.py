"""Speed of writing captures to a segment: `python -m benchmarks.archive`.

One run, one core: this project's encoder and warcio's own writer on the same pages (request and
response, gzip member per record, block and payload digests), in turns, best of several rounds.
Then the way of a segment: append with a commit for each hundred, seal, verify, read, recover.
Prints a table, the ratio, and `RESULT {json}`.
"""

from __future__ import annotations

import argparse
import io
import json
import random
import tempfile
import time
from pathlib import Path

from warcio.statusandheaders import StatusAndHeaders
from warcio.warcwriter import WARCWriter

from shared.archive.capture import Capture
from shared.archive.encode import EncodedCapture, SegmentInfo, encode_capture
from shared.archive.reader import iter_captures
from shared.archive.recover import recover_segment
from shared.archive.verify import verify_segment
from shared.archive.writer import SegmentWriter

PAGES = 1000
BODY_BYTES = 11_000
ROUNDS = 3

FIELDS = [
    ("Date", "Thu, 01 Jan 2026 12:00:00 GMT"),
    ("Server", "nginx"),
    ("Content-Type", "text/html; charset=utf-8"),
    ("Last-Modified", "Wed, 31 Dec 2025 12:00:00 GMT"),
    ("Connection", "keep-alive"),
    ("ETag", '"6954fc3f-2af8"'),
    ("Content-Length", str(BODY_BYTES)),
]
ASKED = [
    ("Host", "www.example.jp"),
    ("User-Agent", "prs/0.1 (+http://robot.example.org/; robot@example.org)"),
    ("Accept", "text/html,*/*;q=0.5"),
    ("Accept-Encoding", "gzip, deflate"),
]


def pages() -> list[Capture]:
    """Return pages of words and links, the same in every run."""
    choose = random.Random(13)
    words = ["".join(choose.choices("aeioukstnhmr", k=choose.randint(2, 9))) for _ in range(4000)]
    captures = []
    for number in range(PAGES):
        text = io.StringIO()
        while text.tell() < BODY_BYTES:
            text.write(f'<p><a href="/{choose.choice(words)}/{choose.randint(0, 9999)}.html">')
            text.write(" ".join(choose.choices(words, k=24)) + "</a></p>\n")
        asked = "".join(f"{name}: {value}\r\n" for name, value in ASKED)
        told = "".join(f"{name}: {value}\r\n" for name, value in FIELDS)
        captures.append(
            Capture(
                url=f"http://www.example.jp/page/{number}.html",
                fetched_at_ms=1_767_268_800_000 + number * 20,
                request=f"GET /page/{number}.html HTTP/1.1\r\n{asked}\r\n".encode(),
                response_header=f"HTTP/1.1 200 OK\r\n{told}\r\n".encode(),
                body=text.getvalue()[:BODY_BYTES].encode(),
                ip="192.0.2.1",
            )
        )
    return captures


def with_warcio(captures: list[Capture]) -> int:
    """Write all pages with warcio's writer; return the bytes written."""
    out = io.BytesIO()
    writer = WARCWriter(out, gzip=True, warc_version="1.1")
    for number, capture in enumerate(captures):
        common = {"WARC-Date": "2026-01-01T12:00:00.000Z", "WARC-IP-Address": "192.0.2.1"}
        response = writer.create_warc_record(
            capture.url,
            "response",
            payload=io.BytesIO(capture.body),
            length=len(capture.body),
            http_headers=StatusAndHeaders("200 OK", list(FIELDS), protocol="HTTP/1.1"),
            warc_headers_dict=dict(common),
        )
        request = writer.create_warc_record(
            capture.url,
            "request",
            payload=io.BytesIO(),
            length=0,
            http_headers=StatusAndHeaders(
                f"GET /page/{number}.html HTTP/1.1", list(ASKED), is_http_request=True
            ),
            warc_headers_dict=dict(common),
        )
        writer.write_request_response_pair(request, response)
    return out.tell()


def with_ours(captures: list[Capture]) -> list[EncodedCapture]:
    """Encode all pages."""
    return [encode_capture(capture) for capture in captures]


def main() -> None:
    """Measure and print."""
    argparse.ArgumentParser(description=str(__doc__).splitlines()[0]).parse_args()
    captures = pages()
    theirs_s, ours_s = [], []
    for _ in range(ROUNDS):
        begun = time.process_time()
        theirs_bytes = with_warcio(captures)
        theirs_s.append(time.process_time() - begun)
        begun = time.process_time()
        encoded = with_ours(captures)
        ours_s.append(time.process_time() - begun)
    figures = {
        "encode_captures_per_cpu_s": round(PAGES / min(ours_s)),
        "encode_us": round(min(ours_s) / PAGES * 1e6, 1),
        "warcio_captures_per_cpu_s": round(PAGES / min(theirs_s)),
        "ratio_to_warcio": round(min(theirs_s) / min(ours_s), 2),
        "bytes_per_capture": sum(len(each.data) for each in encoded) // PAGES,
        "warcio_bytes_per_capture": theirs_bytes // PAGES,
    }
    with tempfile.TemporaryDirectory() as folder:
        figures |= of_a_segment(Path(folder), encoded)
    for name, value in figures.items():
        print(f"{name:34} {value:>10}")
    print("RESULT", json.dumps({"benchmark": "archive", "body_bytes": BODY_BYTES, **figures}))


def of_a_segment(folder: Path, encoded: list[EncodedCapture]) -> dict[str, float]:
    """Measure a segment from its first append to its recovery, in wall time."""
    figures: dict[str, float] = {}

    def measure(name: str, begun: float) -> None:
        figures[f"{name}_captures_per_s"] = round(PAGES / (time.perf_counter() - begun))

    info = SegmentInfo("prsm", "Operator", "http://robot.example.org/")
    writer = SegmentWriter(folder, prefix="BENCH", agent="agent", info=info)
    begun = time.perf_counter()
    for number, each in enumerate(encoded, 1):
        writer.append(each)
        if number % 100 == 0:
            writer.commit()
    measure("append", begun)
    writer.close()
    (left,) = folder.iterdir()
    begun = time.perf_counter()
    found = recover_segment(left)
    measure("recover", begun)
    assert found.segment is not None
    begun = time.perf_counter()
    sealed = found.segment.seal()
    figures["seal_ms"] = round((time.perf_counter() - begun) * 1000, 1)
    begun = time.perf_counter()
    verify_segment(sealed.path, sealed.sha256)
    measure("verify", begun)
    begun = time.perf_counter()
    with sealed.path.open("rb") as file:
        assert sum(1 for _ in iter_captures(file)) == PAGES
    measure("read", begun)
    return figures


if __name__ == "__main__":
    main()
