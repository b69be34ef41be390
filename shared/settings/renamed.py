"""Settings that have another name now: the old name is read for two more releases, and reported.

Invariant: a file that an older version could read gives the same values. Where the old and the new
name have different values in one place, the file is refused: neither is guessed to be right.
"""

from __future__ import annotations

from collections.abc import Iterable

from shared.errors import SettingError
from shared.frozen import frozen
from shared.messages import Message
from shared.settings.fields import shown

__all__ = ["Renamed", "rename"]

Values = dict[str, dict[str, object]]


@frozen
class Renamed:
    """One renamed setting. old, new: as `group.name`. until: first release that refuses `old`."""

    old: str
    new: str
    until: str

    @property
    def message(self) -> Message:
        """Return both names, and until when the old one is read, for a person."""
        return Message("settings_errors.renamed", old=self.old, new=self.new, until=self.until)


def rename(values: Values, renamed: Iterable[Renamed], place: str) -> list[Renamed]:
    """Move values under old names to their new ones; return the renamed settings that were found.

    place: where they were read, for a refusal. A group that becomes empty goes. Raises
    SettingError: both names, with different values.
    """
    found = []
    for one in renamed:
        group, _, name = one.old.partition(".")
        if name not in values.get(group, {}):
            continue
        value = values[group].pop(name)
        if not values[group]:
            del values[group]
        new_group, _, new_name = one.new.partition(".")
        target = values.setdefault(new_group, {})
        if target.setdefault(new_name, value) != value:
            raise SettingError(
                "settings_errors.both_names",
                place=place,
                old=one.old,
                old_value=shown(value),
                new=one.new,
                new_value=shown(target[new_name]),
            )
        found.append(one)
    return found
