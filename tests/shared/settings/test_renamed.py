"""Old names of settings are read like new ones, and reported."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from shared.errors import SettingError
from shared.frozen import frozen
from shared.settings import Form, Renamed, setting

RENAMED = (Renamed("ways.out", "doors.exit", until="9"),)


@frozen
class Ways:
    """A group that had the setting."""

    width: int = setting(1, "m", "how wide")


@frozen
class Doors:
    """A group that has it now."""

    exit: int = setting(1, "number", "which door")


@frozen
class House:
    """The groups."""

    ways: Ways = dataclasses.field(default_factory=Ways)
    doors: Doors = dataclasses.field(default_factory=Doors)


@frozen
class Room:
    """A program whose old group went."""

    doors: Doors = dataclasses.field(default_factory=Doors)


FORM = Form(House, head="A house.", example="doors.exit=1", renamed=RENAMED)


def file(folder: Path, text: str) -> Path:
    path = folder / "house.toml"
    path.write_text(text)
    return path


@pytest.mark.parametrize(
    ("text", "overrides", "door", "found"),
    [
        ("[ways]\nout = 7\n", (), 7, True),
        ("[ways]\nout = 7\nwidth = 2\n", (), 7, True),
        ("[doors]\nexit = 7\n", (), 7, False),
        ("[ways]\nout = 7\n[doors]\nexit = 7\n", (), 7, True),
        ("[ways]\nout = 3\n", ("doors.exit=7",), 7, True),
        ("[doors]\nexit = 3\n", ("ways.out=7",), 7, True),
        ("[ways]\nout = 3\n", ("ways.out=7",), 7, True),
        ("", (), 1, False),
    ],
)
def test_an_old_name_gives_the_value_of_the_new_one(
    tmp_path: Path, text: str, overrides: tuple[str, ...], door: int, found: bool
) -> None:
    """In the file, beside other settings of its old group, and on the command line."""
    path = file(tmp_path, text)
    assert FORM.read(path, overrides)["doors"].exit == door
    assert FORM.renamed_in(path, overrides) == (list(RENAMED) if found else [])
    given = FORM.given(path, overrides)
    assert given.get("doors.exit") == (
        "the command line" if overrides else "house.toml" if text else None
    )


def test_two_values_for_one_setting_are_refused(tmp_path: Path) -> None:
    """Neither is guessed to be right; the sentence has both and what to do."""
    path = file(tmp_path, "[ways]\nout = 7\n[doors]\nexit = 8\n")
    with pytest.raises(SettingError, match=r"ways\.out = 7 and doors\.exit = 8 .*remove ways\.out"):
        FORM.read(path)


def test_a_bad_value_under_an_old_name_is_refused_under_the_new_one(tmp_path: Path) -> None:
    """The sentence has the name that belongs into the file."""
    with pytest.raises(SettingError, match=r"doors\.exit = \"x\": must be a whole number"):
        FORM.read(file(tmp_path, '[ways]\nout = "x"\n'))


def test_values_are_written_into_a_file_with_old_names(tmp_path: Path) -> None:
    """Lines of a person stay as they are; what is written beside them holds."""
    path = file(tmp_path, "[ways]\nout = 7  # north\n")
    text, groups = FORM.with_values(path, {"ways": {"width": 4}})
    assert "out = 7  # north\n" in text
    assert (groups["ways"].width, groups["doors"].exit) == (4, 7)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("[ways]\nout = 7  # north\n", "[ways]\nout = 8  # north\n"),
        ("[doors]\nexit = 7\n", "[doors]\nexit = 8\n"),
        ("[ways]\nout = 7\n[doors]\nexit = 7\n", "[ways]\nout = 8\n[doors]\nexit = 8\n"),
        ("[ways]\n# out = 7\n", "[ways]\n# out = 7\n\n[doors]\nexit = 8\n"),
    ],
)
def test_a_value_is_written_under_each_name_in_the_file(
    tmp_path: Path, before: str, after: str
) -> None:
    """An older version still reads a file with the old name; two names never differ."""
    text, groups = FORM.with_values(file(tmp_path, before), {"doors": {"exit": 8}})
    assert text == after
    assert groups["doors"].exit == 8


def test_a_group_of_old_names_may_be_empty(tmp_path: Path) -> None:
    """A file of all settings, none of them switched on, has the group's heading."""
    form = Form(Room, head="A room.", example="doors.exit=1", renamed=RENAMED)
    path = file(tmp_path, "[ways]\n# out = 7\n[doors]\n")
    assert form.read(path)["doors"].exit == 1
    path = file(tmp_path, "[ways]\nin = 7\n")
    with pytest.raises(SettingError, match="ways: unknown group of settings"):
        form.read(path)


def test_old_names_that_are_not_read_are_refused_together(tmp_path: Path) -> None:
    """One sentence has place, value and new name of each."""
    renamed = (Renamed("ways.out", "doors.exit"), Renamed("ways.back", "doors.entry"))
    form = Form(Room, head="A room.", example="doors.exit=1", renamed=renamed)
    path = file(tmp_path, "[ways]\nout = 7\nback = 8\n")
    with pytest.raises(SettingError) as caught:
        form.read(path)
    assert caught.value.code == "settings_errors.old_names"
    assert str(caught.value) == (
        f"{path}: ways.out = 7: this setting is named doors.exit; ways.back = 8: this setting is "
        "named doors.entry; write the new names, the values keep their meaning"
    )
    with pytest.raises(SettingError, match=r"^--set ways\.out=7: ways\.out = 7: .* doors\.exit"):
        form.read(file(tmp_path, ""), ("ways.out=7",))
