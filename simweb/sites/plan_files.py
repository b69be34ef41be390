"""Write the plan for others to read: seeds.txt, hosts.json and addresses.txt."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from simweb.sites.expectation import captures_of, expect_host, outcome_counts
from simweb.sites.plan import World

__all__ = ["host_rows", "write_plan"]


def write_plan(world: World, port: int, folder: Path, with_urls: bool) -> Path:
    """Write the three files into a folder; return the path of seeds.txt."""
    folder.mkdir(parents=True, exist_ok=True)
    seeds = folder / "seeds.txt"
    seeds.write_text("".join(f"{host.url(port)}\n" for host in world.seeds))
    (folder / "addresses.txt").write_text("".join(f"{a}\n" for a in world.addresses()))
    plan = {
        "port": port,
        "options": world.options.to_json(),
        "regions_apart": world.distances.apart,
        "hosts": host_rows(world, port, with_urls),
    }
    (folder / "hosts.json").write_text(json.dumps(plan, indent=1) + "\n")
    return seeds


def host_rows(world: World, port: int, with_urls: bool) -> list[dict[str, Any]]:
    """Return one row a host: its plan, where a link to it is, and what a crawl gets from it."""
    seeds = {host.index for host in world.seeds}
    rows = []
    for host in world.hosts:
        row = host.to_json()
        row |= {
            "url": host.url(port),
            "seed": host.index in seeds,
            "found_on": _found_on(world, host.index, port),
            "bytes": round(host.pages * host.page_bytes),
        }
        if with_urls:
            urls = expect_host(world, host, port)
            row["urls"] = {kind.value: sorted(found) for kind, found in urls.urls.items() if found}
        if not host.folder:
            counts = outcome_counts(host)
            row["expected_captures"] = captures_of(counts)
            row["expected"] = {kind.value: count for kind, count in counts.items() if count}
        rows.append(row)
    return rows


def _found_on(world: World, index: int, port: int) -> str | None:
    found = world.found_on.get(index)
    if found is None:
        return None
    source = world.hosts[found[0]]
    return source.url(port, world.site(source).path_of(found[1]))
