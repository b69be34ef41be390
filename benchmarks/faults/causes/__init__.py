"""The faults: one small file for a kind of cause, each with its list `FAULTS`."""

from __future__ import annotations

import importlib
import pkgutil

from benchmarks.faults.fault import Fault

__all__ = ["all_faults"]


def all_faults() -> list[Fault]:
    """Return the faults of all files here, those of a kind behind each other.

    First those that need no ground, then those that share one, last those that set its clocks: so
    no ground runs beside what does not need it, and few are made.
    """
    found: list[Fault] = []
    for module in sorted(pkgutil.iter_modules(__path__), key=lambda one: one.name):
        found += importlib.import_module(f"{__name__}.{module.name}").FAULTS
    names = [one.name for one in found]
    assert len(names) == len(set(names)), f"two faults with one name: {sorted(names)}"
    return sorted(found, key=lambda one: (not one.alone, one.clocks))
