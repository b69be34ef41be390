"""What tells the place of a home from others."""

from __future__ import annotations

import shutil
from pathlib import Path

from agent.app.manager_link.permit_use import home_location_of

CARD = "00:11:22:33:44:55"


def machine(folder: Path, machine_id: str = "m1", address: str = CARD) -> Path:
    """Return the root of a machine with one card of metal and one that is new at each start."""
    (folder / "etc").mkdir(parents=True)
    (folder / "etc" / "machine-id").write_text(machine_id + "\n")
    for name in ("eth0", "veth7"):
        card = folder / "sys" / "class" / "net" / name
        card.mkdir(parents=True)
        (card / "address").write_text(f"{address if name == 'eth0' else folder.name}\n")
    (folder / "sys" / "class" / "net" / "eth0" / "device").mkdir()
    return folder


def test_the_same_place_is_the_same_after_a_reboot(tmp_path: Path) -> None:
    """Cards without metal come and go; a link that leads home is no other place."""
    home = tmp_path / "prs"
    home.mkdir()
    (tmp_path / "link").symlink_to(home)
    before = home_location_of(home, machine(tmp_path / "boot1"))
    assert home_location_of(tmp_path / "link", machine(tmp_path / "boot2")) == before


def test_a_copy_is_in_another_place(tmp_path: Path) -> None:
    """On this machine, on another one, on one that was cloned from the same image."""
    home, root = tmp_path / "prs", machine(tmp_path / "root")
    home.mkdir()
    here = home_location_of(home, root)
    shutil.copytree(home, tmp_path / "copy")
    others = [
        home_location_of(tmp_path / "copy", root),
        home_location_of(home, machine(tmp_path / "two", machine_id="m2")),
        home_location_of(home, machine(tmp_path / "three", address="00:11:22:33:44:66")),
    ]
    assert here not in others
    assert len(set(others)) == 3


def test_a_machine_that_says_nothing_of_itself_has_a_place(tmp_path: Path) -> None:
    """A container without an id and without cards."""
    assert home_location_of(tmp_path, tmp_path / "nothing") == home_location_of(
        tmp_path, tmp_path / "nothing"
    )
