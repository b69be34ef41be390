"""Renamed settings: an old name is read until a release, or refused at once with the new name.

Invariant: a file that an older version could read gives the same values. Where the old and the new
name have different values in one place, the file is refused: neither is guessed to be right.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from shared.errors import SettingError
from shared.frozen import frozen
from shared.messages import Message
from shared.settings.fields import shown

__all__ = ["Renamed", "rename", "under_names_of_file"]

Values = dict[str, dict[str, object]]


@frozen
class Renamed:
    """One renamed setting. old, new: as `group.name`.

    until: first release that refuses `old`; empty: this one does.
    """

    old: str
    new: str
    until: str = ""

    @property
    def message(self) -> Message:
        """Return both names, and until when the old one is read, for a person."""
        return Message("settings_errors.renamed", old=self.old, new=self.new, until=self.until)


def rename(values: Values, renamed: Iterable[Renamed], place: str) -> list[Renamed]:
    """Move values under old names to their new ones; return the renamed settings that were found.

    place: where they were read, for a refusal. A group of old names that is empty goes. Raises
    SettingError: both names, with different values; old names that are not read.
    """
    found, refused = [], []
    for one in renamed:
        group, _, name = one.old.partition(".")
        if name in values.get(group, {}):
            value = values[group].pop(name)
            if one.until:
                _move(values, one, value, place)
                found.append(one)
            else:
                refused.append((one, value))
        if values.get(group) == {}:
            del values[group]
    if refused:
        settings = tuple(
            Message("settings_errors.old_name", old=one.old, value=shown(value), new=one.new)
            for one, value in refused
        )
        raise SettingError("settings_errors.old_names", place=place, settings=settings)
    return found


def _move(values: Values, one: Renamed, value: object, place: str) -> None:
    group, _, name = one.new.partition(".")
    target = values.setdefault(group, {})
    if target.setdefault(name, value) != value:
        raise SettingError(
            "settings_errors.both_names",
            place=place,
            old=one.old,
            old_value=shown(value),
            new=one.new,
            new_value=shown(target[name]),
        )


def under_names_of_file(
    given: Mapping[str, Mapping[str, object]], values: Values, renamed: Iterable[Renamed]
) -> Values:
    """Return values to write into a file, each under every name that the file gives it.

    given: by group, under new names. values: of the file. An older version can still read a file
    whose old names stay.
    """
    wanted = {group: dict(named) for group, named in given.items()}
    for one in renamed:
        group, _, name = one.new.partition(".")
        old_group, _, old_name = one.old.partition(".")
        if name not in given.get(group, {}) or old_name not in values.get(old_group, {}):
            continue
        wanted.setdefault(old_group, {})[old_name] = given[group][name]
        if name not in values.get(group, {}):
            wanted[group].pop(name, None)
    return wanted
