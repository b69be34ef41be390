"""Lists written by hand: pinned as a whole or not at all, and back to where they came from."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from manager.db.engine import Database
from manager.operations.fleet.agents import retire
from manager.operations.health.consistency_checks import check
from manager.operations.hosts.hosts import exclude_host
from manager.operations.hosts.lists.list_import import ImportedLists, import_lists
from manager.operations.hosts.lists.refused_lines import LinesRefusedError
from manager.operations.logs.log_scratch import LogWorkspace
from manager.operations.logs.source_files import export
from manager.operations.ownership.pins import list_pins, pin_unit
from manager.operations.planning.plan_application import apply_plan
from manager.operations.planning.plans import make_plan
from manager.operations.rounds.rounds import start_round
from shared.errors import FormatError
from tests.manager.operations.planning.test_plans import owners
from tests.manager.operations.world import ADMIN, World

NAMES = [f"h{number}.jp" for number in range(10)]


@pytest.fixture
def world(database: Database) -> World:
    """Return a world where two agents own ten hosts."""
    made = World(database)
    made.join("a", "b")
    made.hosts(*NAMES)
    apply_plan(database, make_plan(database, "random", ADMIN, made.now_ms), ADMIN, made.now_ms)
    return made


def take(world: World, text: str, *, add_hosts: bool = False) -> ImportedLists:
    """Import lists from one text."""

    def lines() -> Iterator[tuple[int, str]]:
        return iter(list(enumerate(text.splitlines(), 1)))

    return import_lists(world.db, lines, ADMIN, world.now_ms, add_hosts=add_hosts)


def pinned(world: World) -> dict[str, str]:
    """Return all pins."""
    return {pin.unit: pin.agent for pin in list_pins(world.db, limit=1000).pins}


def exported(world: World, folder: Path) -> str:
    """Return the lists of an export, one after the other, each with its agent."""
    folder.mkdir()
    files = export(
        world.db, "lists", LogWorkspace(folder, folder, 64 * 1000**2), ADMIN, world.now_ms
    )
    return "".join(
        f"#Agent={file.name.removeprefix('random/')}\n{file.path.read_text()}"
        for file in files
        if file.name.startswith("random/")
    )


def test_lists_that_were_exported_restore_the_assignment(world: World, tmp_path: Path) -> None:
    """Whatever was changed since; and the next plan keeps to them."""
    before = owners(world.db)
    text = exported(world, tmp_path / "1")
    pin_unit(world.db, NAMES[0], "b" if before["http://h0.jp:80/"] == "a" else "a", "", ADMIN, 0)
    apply_plan(world.db, make_plan(world.db, "random", ADMIN, 0, seed=7), ADMIN, world.now_ms)
    changed = owners(world.db)
    assert changed != before
    done = take(world, text)
    assert owners(world.db) == before
    assert exported(world, tmp_path / "2") == text
    assert done.units == len(NAMES)
    assert done.moved == sum(changed[key] != owner for key, owner in before.items())
    assert sum(done.agents.values()) == len(NAMES)
    assert pinned(world) == before
    apply_plan(world.db, make_plan(world.db, "prices", ADMIN, 0), ADMIN, world.now_ms)
    assert owners(world.db) == before
    assert check(world.db) == []


def test_what_an_operator_writes_is_read(world: World) -> None:
    """M1's lines and bare names; comments, limits, referers and empty lines mean nothing."""
    text = (
        "#Agent=a\n\n# by hand\n#MaxTransfer=50\n#Interval=10\nh0.jp\r\n"
        "http://H1.jp:80/\thttp://h2.jp/\n  h2.jp/\nh0.jp\n#Agent=b\nh3.jp\n"
    )
    done = take(world, text)
    assert done.agents == {"a": 3, "b": 1}
    assert pinned(world) == {f"http://h{n}.jp:80/": "a" for n in range(3)} | {
        "http://h3.jp:80/": "b"
    }


CODES: Final = {
    "not_a_url",
    "not_a_unit",
    "scheme",
    "malformed_line",
    "hosts.list_of_retired_agent",
    "hosts.list_of_unknown_agent",
    "hosts.two_tabs",
    "hosts.unit_in_two_lists",
    "hosts.unknown_in_list",
    "ownership.excluded_unit",
    "ownership.pins_clash",
}
BAD_LISTS: Final = [
    ("#Agent=a\nh0.jp\nno host here\n", "a, line 2: http://no host here: not a URL"),
    ("#Agent=a\nh0.jp/page.html\n", "a, line 1: .*a unit's path ends in '/'"),
    ("#Agent=a\nftp://h0.jp/\n", "a, line 1: .*only http and https"),
    ("#Agent=a\nh0.jp\ta\tb\n", "a, line 1: two tabs"),
    ("#Agent=a\nnew.jp\n", "a, line 1: http://new.jp:80/ is not known; .*--add-hosts"),
    ("#Agent=a\nh0.jp/dir/\n", "a, line 1: .*split http://h0.jp:80/ there first"),
    ("#Agent=a\nh0.jp\n#Agent=b\nh1.jp\nh0.jp\n", "b, line 2: .*list of a, line 1"),
    ("#Agent=c\nh0.jp\n", "c, line 0: no agent of this name"),
    ("#Agent=\udcff\x1b\n", r"\\udcff\\x1b, line 0: no agent of this name"),
    ("h0.jp\n#Agent=a\nh1.jp\n", "no agent, line 1: a list begins with #Agent=NAME"),
    ("#Agent=a\nh1.jp\nh9.jp\n", "a, line 2: .*is excluded"),
    ("#Agent=a\nshared.jp\n#Agent=b\n\nalso.jp\n", "b, line 2: .*shares its address"),
    ("#Agent=gone\nh1.jp\n", "gone, line 0: this agent was retired"),
]


def test_one_bad_line_changes_nothing(world: World) -> None:
    """It is named by its agent and its number, and no other line is taken."""
    world.join("gone")
    retire(world.db, "gone", ADMIN, world.now_ms)
    world.hosts("shared.jp", "also.jp", address="198.51.100.7")
    exclude_host(world.db, "h9.jp", "", ADMIN, world.now_ms)
    pin_unit(world.db, "h5.jp", "a", "before", ADMIN, world.now_ms)
    before = owners(world.db)
    for text, words in BAD_LISTS:
        with pytest.raises(LinesRefusedError, match=f"nothing was changed:\n{words}") as raised:
            take(world, text)
        assert raised.value.code == "refused_lines"
        first = raised.value.refused[0]
        assert (first.code in CODES, first.text != "") == (True, True), first
        assert owners(world.db) == before
        assert pinned(world) == {"http://h5.jp:80/": "a"}


def test_many_bad_lines_are_summed_up(world: World) -> None:
    """The first twenty are shown."""
    with pytest.raises(FormatError, match=r"^30 lines(.*\n){21}.*and 10 more$"):
        take(world, "#Agent=a\n" + "no host\n" * 30)


def test_an_address_changes_hands_as_a_whole(world: World) -> None:
    """Pins of before, of units that the lists name, stand in nobody's way."""
    world.hosts("shared.jp", "also.jp", address="198.51.100.7")
    take(world, "#Agent=a\nshared.jp\nalso.jp\n")
    take(world, "#Agent=b\nshared.jp\nalso.jp\n")
    assert pinned(world) == {"http://shared.jp:80/": "b", "http://also.jp:80/": "b"}
    with pytest.raises(FormatError, match=r"a, line 1: .*shares its address with http://also"):
        take(world, "#Agent=a\nshared.jp\n")


def test_hosts_are_added_where_it_is_asked_for(world: World) -> None:
    """They are pinned before they have an address, and go to their agent with the next plan."""
    done = take(world, "#Agent=b\nnew.jp\nhttps://new.jp/\nh0.jp\n", add_hosts=True)
    assert (done.new_hosts, done.units) == (2, 3)
    world.resolve()
    start_round(world.db, "random", ADMIN, world.now_ms, policy=world.policy)
    world.run()
    assert owners(world.db)["http://new.jp:80/"] == "b"
    assert owners(world.db)["https://new.jp:443/"] == "b"
    assert check(world.db) == []


def test_added_hosts_vanish_with_a_refusal(world: World) -> None:
    """Nothing half done: not even a host."""
    before = set(owners(world.db))
    with pytest.raises(FormatError, match="a, line 2"):
        take(world, "#Agent=a\nnew.jp\nnew.jp/page\n", add_hosts=True)
    assert set(owners(world.db)) == before
