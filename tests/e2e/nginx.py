"""Debian's nginx with the configuration that is shipped, in a folder of its own."""

from __future__ import annotations

import os
import re
import socket
import subprocess
import time
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.programs import program

__all__ = ["make_certificate", "nginx_in_front", "wait_for_front"]

SHIPPED = Path(__file__).parents[2] / "deploy" / "nginx.conf"


def make_certificate(folder: Path) -> tuple[Path, Path]:
    """Make a key and a certificate for loopback."""
    key, certificate = folder / "key.pem", folder / "cert.pem"
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1",
         "-keyout", key, "-out", certificate, "-nodes", "-days", "2", "-subj", "/CN=localhost",
         "-addext", "subjectAltName=IP:127.0.0.1"],
        check=True, capture_output=True,
    )  # fmt: skip
    return key, certificate


@contextmanager
def nginx_in_front(
    folder: Path,
    manager_port: int,
    archive: Path,
    port: int,
    *,
    alone: bool = False,
    others: Collection[int] = (),
    user: str = "root",
) -> Iterator[str]:
    """Start nginx before a manager; give its address. Certificates are made for it.

    others: ports of more managers. user: of its workers, where root starts it. alone: it also sends
    the segments at `/alone/`, asking nobody.
    """
    binary = program("nginx")
    folder.mkdir()
    # The folder's own path may be longer than a socket's may be.
    socket_path = f"/tmp/prsm-pieces-{os.getpid()}-{port}.sock"
    key, certificate = folder / "key.pem", folder / "cert.pem"
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1",
         "-keyout", key, "-out", certificate, "-nodes", "-days", "2", "-subj", "/CN=localhost",
         "-addext", "subjectAltName=IP:127.0.0.1"],
        check=True, capture_output=True,
    )  # fmt: skip
    shipped = SHIPPED.read_text()
    for what, chosen, times in (
        (r"127\.0\.0\.1:8000", f"127.0.0.1:{manager_port}", 1),
        (r"listen 443", f"listen 127.0.0.1:{port}", 1),
        (r"/etc/ssl/prsm\.pem", str(certificate), 1),
        (r"/etc/ssl/prsm\.key", str(key), 1),
        (r"/var/lib/prsm/archive/", f"{archive}/", 1),
        (r"/run/prsm-pieces\.sock", socket_path, 2),
    ):
        shipped, changed = re.subn(what, chosen, shipped)
        assert changed == times, what
    line = f"server 127.0.0.1:{manager_port} max_fails=1 fail_timeout=1s;"
    assert line in shipped, line
    more = "".join(f"\n{line.replace(str(manager_port), str(other))}" for other in others)
    shipped = shipped.replace(line, line + more, 1)
    if alone:
        place = f"location /alone/ {{ alias {archive}/segments/; sendfile on; tcp_nopush on; }}"
        shipped = shipped.replace("    location / {", f"    {place}\n    location / {{", 1)
    config = folder / "nginx.conf"
    paths = "".join(
        f"{kind}_temp_path {folder}/{kind};\n"
        for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    )
    config.write_text(
        f"user {user};\ndaemon off;\npid {folder}/pid;\n"
        f"error_log {folder}/error.log;\nevents {{}}\n"
        f"http {{\naccess_log {folder}/access.log;\n{paths}{shipped}\n}}\n"
    )
    with (folder / "out").open("wb") as out:
        process = subprocess.Popen([binary, "-p", folder, "-c", config], stdout=out, stderr=out)
    try:
        wait_for_front(port, process, folder)
        yield f"https://127.0.0.1:{port}"
    finally:
        process.terminate()
        process.wait(30)
        Path(socket_path).unlink(missing_ok=True)


def wait_for_front(port: int, process: subprocess.Popen[bytes], folder: Path) -> None:
    """Wait until what was put in front takes connections."""
    give_up = time.monotonic() + 600
    while True:
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
        except OSError:
            assert process.poll() is None, (folder / "out").read_text()
            assert time.monotonic() < give_up, "nginx does not answer"
            time.sleep(0.05)
        else:
            return
