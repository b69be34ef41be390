"""Batches of look-ups: in turn, in order."""

from __future__ import annotations

import asyncio

from manager.naming import look_up_all
from shared.naming import AddressRules, Record
from tests.shared.naming.zone import Zone


def test_questions_are_bounded() -> None:
    """Never more names at a time than allowed; answers come in the order of the hosts."""
    names = [f"h{i}" for i in range(20)]
    zone = Zone({(n, "A"): [Record(f"133.9.1.{i}", 60)] for i, n in enumerate(names)})
    hosts = [f"http://{name}:80/" for name in names]
    found = asyncio.run(look_up_all(hosts, zone, AddressRules(), at_once=3))
    assert [each.addresses for each in found] == [(f"133.9.1.{i}",) for i in range(20)]
    assert zone.most_names == 3
