"""A file of settings: read it, lay `--set` over it, check every value, print it with its defaults.

Invariant: what `read` returns can be used; whatever cannot is refused with a sentence that names
the setting, its value, its limit and the remedy. Nothing is guessed and nothing ignored.
"""

from __future__ import annotations

import dataclasses
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from shared.errors import SettingError
from shared.settings.fields import check_group, nearest, shown
from shared.settings.merge import merged
from shared.settings.renamed import Renamed, rename, under_names_of_file
from shared.settings.secrets import refuse_secret

__all__ = ["COMMAND_LINE", "Form"]

COMMAND_LINE: Final = "the command line"
"""Where `Form.given` says that a setting was set by `--set`."""

Values = dict[str, dict[str, object]]


class Form:
    """The groups of a program's settings, as its dataclass of groups declares them."""

    def __init__(
        self, settings: type[Any], *, head: str, example: str, renamed: Iterable[Renamed] = ()
    ) -> None:
        """Take the dataclass whose fields with a default factory are the groups.

        head: first line of the printed file. example: of a `--set`, as `windows.zone=Asia/Tokyo`.
        renamed: settings whose old names are still read, or refused with their new ones.
        """
        self._groups: dict[str, Any] = {
            field.name: field.default_factory
            for field in dataclasses.fields(settings)
            if field.default_factory is not dataclasses.MISSING
        }
        self._head = head
        self._example = example
        self._renamed = tuple(renamed)

    def read(
        self, path: Path, overrides: Iterable[str] = (), *, must_exist: bool = False
    ) -> dict[str, Any]:
        """Return each group, checked; a missing file means defaults.

        overrides: texts as `group.name=value`, stronger than the file; the value is TOML, and a
        text may stand without quotes. Raises SettingError.
        """
        values: Values = {}
        for _, given, _ in self._sources(path, overrides, must_exist=must_exist):
            for group, named in given.items():
                values.setdefault(group, {}).update(named)
        return self._checked(values)

    def renamed_in(self, path: Path, overrides: Iterable[str] = ()) -> list[Renamed]:
        """Return the settings that a file or an override gives by their old names.

        Raises SettingError, as `read`.
        """
        found = (one for _, _, renamed in self._sources(path, overrides) for one in renamed)
        return list(dict.fromkeys(found))

    def with_values(
        self, path: Path, given: Mapping[str, Mapping[str, object]]
    ) -> tuple[str, dict[str, Any]]:
        """Return the file with these values, by group, in it, and each group, checked.

        Nothing is written. A missing file: all settings, as `documented`. A setting that the file
        gives by its old name keeps that name. Raises SettingError.
        """
        try:
            text = path.read_text("utf-8")
            named = under_names_of_file(given, self._parsed(text, path), self._renamed)
            text = merged(text, named, str(path))
        except FileNotFoundError:
            text = self.documented(given)
        except (OSError, UnicodeError) as error:
            raise SettingError(
                "settings_errors.unreadable", path=str(path), reason=str(error)
            ) from error
        values = self._parsed(text, path)
        rename(values, self._renamed, str(path))
        return text, self._checked(values)

    def _checked(self, values: Values) -> dict[str, Any]:
        for group in values:
            if group not in self._groups:
                raise SettingError(
                    "settings_errors.unknown_group",
                    group=group,
                    remedy=nearest(group, self._groups),
                )
        return {
            name: check_group(kind, name, values.get(name, {}))
            for name, kind in self._groups.items()
        }

    def given(self, path: Path, overrides: Iterable[str] = ()) -> dict[str, str]:
        """Return where each setting that is not at its default was read: `group.name` to a place.

        Raises SettingError, as `read`.
        """
        return {
            f"{group}.{name}": place
            for place, values, _ in self._sources(path, overrides)
            for group, named in values.items()
            for name in named
        }

    def refuse_secrets(self, overrides: Iterable[str], file: str) -> None:
        """Refuse secrets among the overrides of a command line. file: where they belong.

        Raises SettingError.
        """
        for group, name, value in map(self._override, overrides):
            fields = dataclasses.fields(self._groups[group]) if group in self._groups else ()
            secret = any(field.name == name and field.metadata["secret"] for field in fields)
            refuse_secret(value, f"{group}.{name}", secret=secret, file=file)

    def documented(self, given: Mapping[str, Mapping[str, object]] | None = None) -> str:
        """Return a file of all settings at their defaults, each with unit, range and reason.

        given: values by group that stand uncommented, as `{"robot": {"contact": "a@b.org"}}`.
        """
        lines = [f"# {self._head} Lines behind a # are the defaults; change what you need."]
        for name, kind in self._groups.items():
            lines += ["", f"[{name}]"]
            chosen = (given or {}).get(name, {})
            for field in dataclasses.fields(kind):
                lines += [_explained(field)]
                if field.name in chosen:
                    lines += [f"{field.name} = {shown(chosen[field.name])}"]
                else:
                    lines += [f"# {field.name} = {shown(field.default)}"]
        return "\n".join([*lines, ""])

    def _sources(
        self, path: Path, overrides: Iterable[str], *, must_exist: bool = False
    ) -> Iterator[tuple[str, Values, list[Renamed]]]:
        """Yield the file and each override: its place, its values, and which had old names."""
        values = self._read_file(path, must_exist=must_exist)
        yield path.name, values, rename(values, self._renamed, str(path))
        for override in overrides:
            group, name, value = self._override(override)
            values = {group: {name: value}}
            yield COMMAND_LINE, values, rename(values, self._renamed, f"--set {override}")

    def _read_file(self, path: Path, *, must_exist: bool) -> Values:
        try:
            text = path.read_text("utf-8")
        except FileNotFoundError:
            if must_exist:
                raise SettingError("settings_errors.no_such_file", path=str(path)) from None
            return {}
        except (OSError, UnicodeError) as error:
            raise SettingError(
                "settings_errors.unreadable", path=str(path), reason=str(error)
            ) from error
        return self._parsed(text, path)

    def _parsed(self, text: str, path: Path) -> Values:
        try:
            values = tomllib.loads(text)
        except tomllib.TOMLDecodeError as error:
            raise SettingError(
                "settings_errors.not_toml", path=str(path), reason=str(error)
            ) from error
        for name, group in values.items():
            if not isinstance(group, dict):
                first, second, *_ = self._groups
                raise SettingError(
                    "settings_errors.outside_group",
                    path=str(path),
                    name=name,
                    first=first,
                    second=second,
                    remedy=nearest(name, self._groups),
                )
        return values

    def _override(self, text: str) -> tuple[str, str, object]:
        """Return group, name and value of a `--set`."""
        name, equals, value = text.partition("=")
        group, dot, key = name.strip().partition(".")
        if not (equals and dot and key):
            raise SettingError("settings_errors.override", text=text, example=self._example)
        try:
            parsed: object = tomllib.loads(f"value = {value}")["value"]
        except tomllib.TOMLDecodeError:
            parsed = value.strip()
        return group, key, parsed


def _explained(field: dataclasses.Field[Any]) -> str:
    about = field.metadata
    limits = "".join(
        f", {sign} {about[key]}"
        for key, sign in (("least", ">="), ("most", "<="))
        if about[key] is not None
    )
    return f"# {about['reason']} ({about['unit']}{limits})"
