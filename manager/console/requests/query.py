"""Parameters in the address of a page: those that it declares, and no others.

Invariant: a page reads no name that it does not declare (`Page.query`), so the known names in a
refusal are all there are. APIs do the same from their declarations (`manager.app.web.contract`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from manager.errors import UnknownFieldError
from shared.errors import Fault, FormatError

__all__ = ["Query", "check_query"]


class Query(Mapping[str, str]):
    """Values by name. known: names that may be read; None: any, before a page is found."""

    def __init__(self, values: Mapping[str, str], known: Sequence[str] | None = None) -> None:
        self._values = dict(values)
        self._known = None if known is None else frozenset(known)

    def __getitem__(self, name: str) -> str:
        self._declared(name)
        return self._values[name]

    def __contains__(self, name: object) -> bool:
        self._declared(str(name))
        return name in self._values

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def _declared(self, name: str) -> None:
        if self._known is not None and name not in self._known:
            raise AssertionError(f"a page reads {name!r} and does not declare it in Page.query")


def check_query(items: Iterable[tuple[str, str]], known: Sequence[str]) -> None:
    """Raise UnknownFieldError for a name that is not known, FormatError for one given twice."""
    seen = set[str]()
    for name, _ in items:
        if name not in known:
            raise UnknownFieldError("parameter", name, sorted(known))
        if name in seen:
            raise FormatError("requests.repeated_parameter", Fault.REPEATED_PARAMETER, name=name)
        seen.add(name)
