"""Packages of `requirements.lock` that the agent needs, by platform.

The lock has everything, tools of development too. What the agent needs follows from what it
declares and what those declare in turn; versions and hashes are the lock's own, never chosen again.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from importlib import metadata

from packaging.markers import Marker
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

__all__ = ["Locked", "Platform", "locked", "needed"]

_ENTRY = re.compile(
    r"^(?P<name>[A-Za-z0-9._-]+)==(?P<version>[^\s;\\]+)(?:\s*;\s*(?P<marker>[^\\]+?))?\s*\\?$"
)
_HASH = re.compile(r"--hash=sha256:([0-9a-f]{64})")


@dataclass(frozen=True, slots=True)
class Platform:
    """One Python on one machine; its name is that of ADR 116."""

    python: tuple[int, int]
    machine: str

    @classmethod
    def named(cls, name: str) -> Platform:
        """Return the platform of `cp311-x86_64`."""
        abi, _, machine = name.partition("-")
        return cls((int(abi[2]), int(abi[3:])), machine)

    @property
    def name(self) -> str:
        """Return it as `cp311-x86_64`."""
        return f"{self.abi}-{self.machine}"

    @property
    def abi(self) -> str:
        """Return it as wheels name the interpreter."""
        return f"cp{self.python[0]}{self.python[1]}"

    @property
    def environment(self) -> dict[str, str]:
        """Return what markers ask about."""
        version = f"{self.python[0]}.{self.python[1]}"
        return {
            "python_version": version,
            "python_full_version": f"{version}.0",
            "platform_machine": self.machine,
            "platform_system": "Linux",
            "platform_python_implementation": "CPython",
            "implementation_name": "cpython",
            "sys_platform": "linux",
            "os_name": "posix",
            "extra": "",
        }


@dataclass(frozen=True, slots=True)
class Locked:
    """One entry of the lock. A name may have two, for different Pythons."""

    name: str
    version: str
    marker: str
    hashes: frozenset[str]

    def fits(self, platform: Platform) -> bool:
        """Return whether a platform takes it."""
        environment: Mapping[str, str] = platform.environment
        return not self.marker or Marker(self.marker).evaluate(dict(environment))


def locked(text: str) -> list[Locked]:
    """Read a lock file. Raises ValueError for a line that is none of ours."""
    found: list[Locked] = []
    for line in text.splitlines():
        words = line.strip()
        if not words or words.startswith("#"):
            continue
        if words.startswith("--hash="):
            last = found.pop()
            found.append(
                Locked(last.name, last.version, last.marker, last.hashes | {*_HASH.findall(words)})
            )
            continue
        match = _ENTRY.match(words)
        if match is None:
            raise ValueError(f"requirements.lock: {words!r} is no entry")
        name = canonicalize_name(match["name"])
        found.append(Locked(name, match["version"], match["marker"] or "", frozenset()))
    return found


def needed(declared: Iterable[str], known: Iterable[str]) -> set[str]:
    """Return the names that requirements lead to, themselves included.

    Markers but those of extras are not looked at: a package too many does no harm, and the lock's
    own markers decide at the site. known: names of the lock; other names are of other systems.
    """
    names = set(known)
    found: set[tuple[str, str]] = set()
    waiting = [Requirement(text) for text in declared]
    while waiting:
        requirement = waiting.pop()
        name = canonicalize_name(requirement.name)
        for extra in ("", *requirement.extras):
            if name not in names or (name, extra) in found:
                continue
            found.add((name, extra))
            try:
                more = metadata.requires(name) or ()
            except metadata.PackageNotFoundError:
                continue  # of another Python than this one; the lock names what it needs
            waiting += [one for one in map(Requirement, more) if _of_extra(one, extra)]
    return {name for name, _ in found}


def _of_extra(requirement: Requirement, extra: str) -> bool:
    text = str(requirement.marker or "")
    if "extra" not in text:
        return not extra
    return bool(extra) and re.search(rf"""extra == ['"]{re.escape(extra)}['"]""", text) is not None
