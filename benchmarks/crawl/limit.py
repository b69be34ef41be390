"""The limit: requests a second of `wrk` on the same server and files.

One thread and a connection for each of 100 places at a time, each request for the next page of
the list, by its host's name; nothing is parsed and nothing kept.
"""

from __future__ import annotations

import re
import subprocess
from pathlib import Path
from typing import Final

from benchmarks.crawl.nginx import need

__all__ = ["requests_per_s"]

SECONDS: Final = 8
_SCRIPT: Final = """\
local requests, at = {{}}, 0
for line in io.lines("{listed}") do
    local host, path = line:match("^(%S+) (%S+)$")
    requests[#requests + 1] = "GET " .. path .. " HTTP/1.1\\r\\nHost: " .. host .. "\\r\\n\\r\\n"
end
request = function()
    at = at % #requests + 1
    return requests[at]
end
"""


def requests_per_s(folder: Path, hosts: tuple[str, ...], port: int, scratch: Path) -> float:
    """Ask for all HTML files of the hosts again and again; return the answers a second."""
    scratch.mkdir(parents=True, exist_ok=True)
    listed, script = scratch / "pages.txt", scratch / "wrk.lua"
    with listed.open("w") as lines:
        for host in hosts:
            for file in (folder / host).rglob("*"):
                path = file.relative_to(folder / host).as_posix()
                if (path.endswith(".html") or "?" in path) and " " not in path:
                    lines.write(f"{host}:{port} /{path}\n")
    script.write_text(_SCRIPT.format(listed=listed))
    words = ["-t1", "-c100", f"-d{SECONDS}s", "-s", str(script), f"http://127.0.0.1:{port}/"]
    told = subprocess.run([need("wrk"), *words], check=True, capture_output=True, text=True).stdout
    found = re.search(r"Requests/sec:\s+([0-9.]+)", told)
    if found is None or "Non-2xx" in told:
        raise RuntimeError(f"wrk: {told}")
    return float(found[1])
