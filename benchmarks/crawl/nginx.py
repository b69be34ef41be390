"""nginx as any site runs it, on a separate port, and its access log.

One worker process: it is faster than all crawlers together, and leaves them the other core.
Invariant: what counts as fetched is what this log says, whatever a crawler claims.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

__all__ = ["Fetched", "Logged", "Served", "need", "serve"]

_CONFIGURATION: Final = """\
daemon off;
worker_processes 1;
worker_rlimit_nofile 20000;
pid nginx.pid;
error_log error.log;
events {{ worker_connections 8000; }}
http {{
    include /etc/nginx/mime.types;
    default_type text/html;
    log_format judge
        '$msec $request_time $server_addr $status $host $request_uri $sent_http_content_type';
    access_log access.log judge buffer=256k;
    client_body_temp_path temp; proxy_temp_path temp; fastcgi_temp_path temp;
    uwsgi_temp_path temp; scgi_temp_path temp;
    sendfile on;
    tcp_nopush on;
    keepalive_timeout 300;
    keepalive_requests 10000000;
    open_file_cache max=8000 inactive=600s;
    open_file_cache_valid 600s;
    server {{
        listen 0.0.0.0:{port} backlog=4096;
        root {folder}/$host;
        index index.html;
        {places}
    }}
}}
"""
_FILES: Final = "location / { try_files $uri$is_args$args $uri $uri/ =404; }"
_PACKAGES: Final = {"nginx": "nginx-light", "wrk": "wrk"}


@dataclass(frozen=True, slots=True)
class Fetched:
    """Fetches of one crawler, by the log: distinct URLs answered with 200, without robots.txt."""

    requests: int
    urls: int
    html: int  # of them
    seconds: float  # from the first answer to the last
    first_s: float = 0.0  # when the first of these URLs was answered, since 1970; 0: none was


@dataclass(frozen=True, slots=True)
class Logged:
    """One request in the log. Times are since 1970, to the millisecond: first byte in, last out."""

    start_s: float
    end_s: float
    address: str  # of the server
    status: int
    host: str
    path: str
    content_type: str


class Served:
    """A running nginx."""

    def __init__(self, folder: Path, port: int, process: subprocess.Popen[bytes]) -> None:
        self._log = folder / "access.log"
        self._process = process
        self.port = port

    def take_requests(self) -> list[Logged]:
        """Return the requests since the last call, in the order of their ends; begin a new log."""
        self._process.send_signal(signal.SIGUSR1)  # writes out what is buffered
        time.sleep(0.5)
        lines = self._log.read_text("utf-8", "replace").splitlines()
        os.truncate(self._log, 0)
        return [_logged(line) for line in lines]

    def take_log(self) -> Fetched:
        """Return the fetches since the last call, and begin a new log."""
        urls: dict[str, bool] = {}
        times = []
        first_s = 0.0
        for one in self.take_requests():
            times.append(one.end_s)
            if one.status == 200 and one.path != "/robots.txt":
                first_s = first_s or one.end_s
                urls[one.host + one.path] = one.content_type.startswith("text/html")
        span_s = max(times) - min(times) if times else 0.0
        return Fetched(len(times), len(urls), sum(urls.values()), span_s, first_s)


def _logged(line: str) -> Logged:
    moment, took, address, status, host, path, kind = line.split(" ", 6)
    end_s = float(moment)
    return Logged(end_s - float(took), end_s, address, int(status), host, path, kind)


@contextmanager
def serve(web: Path, scratch: Path, port: int, places: str = _FILES) -> Iterator[Served]:
    """Serve `web/HOST/...` for every host at a port, until the end of the block.

    places: what the server does with a request, in nginx's words.
    """
    (scratch / "temp").mkdir(parents=True, exist_ok=True)
    configuration = scratch / "nginx.conf"
    text = _CONFIGURATION.format(port=port, folder=web, places=places)
    if os.geteuid() == 0:
        text = "user root;\n" + text
    configuration.write_text(text)
    program = need("nginx")
    process = subprocess.Popen([program, "-p", str(scratch), "-c", str(configuration)])
    try:
        _wait_until_it_answers(port, process)
        served = Served(scratch, port, process)
        served.take_log()
        yield served
    finally:
        process.terminate()
        process.wait(20)


def need(program: str) -> str:
    """Return the path of a program; it is installed where this may be done, else this ends."""
    found = shutil.which(program) or shutil.which(program, path="/usr/sbin:/usr/bin")
    if found is None:
        sys.exit(
            f"no {program}: run make bench-crawl as root, or apt-get install {_PACKAGES[program]}"
        )
    return found


def _wait_until_it_answers(port: int, process: subprocess.Popen[bytes]) -> None:
    for _ in range(100):
        if process.poll() is not None:
            sys.exit("nginx ended at once; what it said is above")
        with contextlib.suppress(OSError):
            socket.create_connection(("127.0.0.1", port), 1.0).close()
            return
        time.sleep(0.1)
    sys.exit(f"nginx does not answer at port {port}")
