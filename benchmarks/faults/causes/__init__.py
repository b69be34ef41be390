"""The faults: one small file for a kind of cause, each with its list `FAULTS`."""

from __future__ import annotations

import importlib
import pkgutil

from benchmarks.faults.fault import Fault

__all__ = ["all_faults"]


def all_faults() -> list[Fault]:
    """Return the faults of all files here: by file name, in the order of each file's list."""
    found: list[Fault] = []
    for module in sorted(pkgutil.iter_modules(__path__), key=lambda one: one.name):
        found += importlib.import_module(f"{__name__}.{module.name}").FAULTS
    names = [one.name for one in found]
    assert len(names) == len(set(names)), f"two faults with one name: {sorted(names)}"
    return found
