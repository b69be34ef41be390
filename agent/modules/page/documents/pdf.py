"""Reads the links of a PDF: what its annotations, outlines and actions lead to.

Actions may follow one another, hang on a page or the whole document, and hold a script, of which
whole URLs count. A document may say against what its URLs are meant (`/URI << /Base >>`).

pypdf reads it, page by page, because it is Python: a file that was built to break a reader raises.
Where it fails, or takes too long, `/URI (...)` is searched for in the bytes as well, which finds
addresses outside of compressed objects. Text that merely looks like an address is no link.
The limits of a worker end it, and the page with it; a document that only takes long should cost its
links alone. So its time runs out earlier here (`cpu_budget`).
Source: ISO 32000-1, 12.5.6.5 (link annotations), 12.6.4.3 (remote go-to), 12.6.4.7 (URI actions).
"""

from __future__ import annotations

import io
import logging
import re
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final

from agent.modules.page.addresses import joined
from agent.modules.page.html.script_strings import strings_of

__all__ = ["Budget", "OverBudgetError", "cpu_budget", "pdf_references"]

MOST_PAGES: Final = 5_000
MOST_OUTLINES: Final = 10_000
MOST_LINKS: Final = 50_000
MOST_ACTIONS: Final = 100  # of one place

_URI: Final = re.compile(
    rb"/URI\s{0,10}(?:\(((?:[^()\\]|\\.){1,2000})\)|<([0-9A-Fa-f\s]{2,4000})>)", re.DOTALL
)
_ESCAPED: Final = re.compile(rb"\\(?:([0-7]{1,3})|(\r\n|\r|\n)|(.))", re.DOTALL)
_WHOLE: Final = ("http://", "https://")


class OverBudgetError(BaseException):
    """The time is over. No `Exception`: readers catch those and continue."""


@dataclass(slots=True)
class Budget:
    """The state of a budget: whether its time is over."""

    is_over: bool = False


@contextmanager
def cpu_budget(seconds: float) -> Iterator[Budget]:
    """Give the body so many seconds of processor time; raise OverBudgetError beyond half more.

    `Budget.is_over` tells a reader that asks; one that does not ask is stopped by the exception.
    Elsewhere than in the main thread there is no limit but those of the process.
    """
    budget = Budget()

    def over(*_: object) -> None:
        if budget.is_over:
            raise OverBudgetError
        budget.is_over = True

    if threading.current_thread() is not threading.main_thread():
        yield budget
        return
    before = signal.signal(signal.SIGVTALRM, over)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds, seconds / 2)
    try:
        yield budget
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


def pdf_references(body: bytes, cpu_s: float) -> tuple[list[str], str]:
    """Return the references of a PDF, each once, and a note; "": it was read to its end.

    cpu_s: seconds of processor time that this may take.
    """
    found: dict[str, None] = {}
    note = ""
    try:
        with cpu_budget(cpu_s) as budget:
            for reference in _read(body, budget):
                found[reference] = None
                if len(found) >= MOST_LINKS:
                    break
            if budget.is_over:
                note = f"PDF read for {cpu_s:g} s only"
    except OverBudgetError:
        note = f"PDF read for {cpu_s:g} s only"
    except Exception as error:  # noqa: BLE001  # a broken file breaks a reader in any way
        note = f"PDF is broken: {type(error).__name__}"
    if note:
        for match in _URI.finditer(body):
            found[_literal(match[1], match[2])] = None
            if len(found) >= MOST_LINKS:
                break
    return [*found], note


def _read(body: bytes, budget: Budget) -> Iterator[str]:
    import pypdf  # noqa: PLC0415  # 0.3 s, and few sites have PDFs only

    logging.getLogger("pypdf").setLevel(logging.CRITICAL)
    reader = pypdf.PdfReader(io.BytesIO(body), strict=False)
    if reader.is_encrypted:
        reader.decrypt("")
    catalog = reader.trailer["/Root"].get_object()
    base = _text_of(_got(_got(catalog, "/URI"), "/Base"))
    for reference in _of_parts(reader, catalog, budget):
        yield joined(base, reference)


def _of_parts(reader: Any, catalog: Any, budget: Budget) -> Iterator[str]:
    yield from _of_actions(_got(catalog, "/OpenAction"))
    yield from _of_triggers(catalog)
    for number, page in enumerate(reader.pages):
        if number >= MOST_PAGES or budget.is_over:
            break
        yield from _of_triggers(page)
        annotations = _got(page, "/Annots")
        for one in annotations if isinstance(annotations, list) else ():
            if budget.is_over:
                return
            annotation = one.get_object()
            yield from _of_actions(_got(annotation, "/A"))
            yield from _of_actions(_got(annotation, "/PA"))
            yield from _of_triggers(annotation)
    yield from _of_outlines(_got(catalog, "/Outlines"))
    yield from _of_scripts(_got(_got(catalog, "/Names"), "/JavaScript"))


def _of_outlines(outlines: Any) -> Iterator[str]:
    left, looked_at = [_got(outlines, "/First")], 0
    while left and looked_at < MOST_OUTLINES:
        one = left.pop()
        looked_at += 1
        if isinstance(one, dict):
            yield from _of_actions(_got(one, "/A"))
            left += [_got(one, "/Next"), _got(one, "/First")]


def _of_scripts(tree: Any) -> Iterator[str]:
    """Yield what the scripts of a tree of names lead to."""
    left, looked_at = [tree], 0
    while left and looked_at < MOST_ACTIONS:
        node = left.pop()
        looked_at += 1
        for name in ("/Names", "/Kids"):
            parts = _got(node, name)
            objects = [one.get_object() for one in parts] if isinstance(parts, list) else []
            if name == "/Kids":
                left += objects
            else:
                for one in objects:
                    yield from _of_actions(one)


def _of_triggers(holder: Any) -> Iterator[str]:
    """Yield what the actions lead to that an event starts."""
    actions = _got(holder, "/AA")
    if isinstance(actions, dict):
        for name in [*actions][:MOST_ACTIONS]:
            yield from _of_actions(_got(actions, name))


def _of_actions(action: Any) -> Iterator[str]:
    """Yield what an action leads to, and those that follow it."""
    left, looked_at = [action], 0
    while left and looked_at < MOST_ACTIONS:
        one = left.pop(0)
        looked_at += 1
        if isinstance(one, dict):
            yield from filter(None, _of_action(one))
            following = _got(one, "/Next")
            left += (
                [part.get_object() for part in following[:MOST_ACTIONS]]
                if isinstance(following, list)
                else [following]
            )


def _of_action(action: dict[Any, Any]) -> Iterator[str]:
    kind = action.get("/S")
    if "/URI" in action:
        yield _text_of(_got(action, "/URI"))
    elif kind in ("/GoToR", "/Launch", "/ImportData", "/Thread"):
        yield _file_of(_got(action, "/F"))
    elif kind == "/Rendition":
        yield _file_of(_got(_got(_got(action, "/R"), "/C"), "/D"))
    if kind in ("/JavaScript", "/Rendition"):
        script = _got(action, "/JS")
        if hasattr(script, "get_data"):
            script = script.get_data()
        for text in strings_of(_text_of(script)):
            if text.startswith(_WHOLE):
                yield text


def _file_of(value: Any) -> str:
    """Return the file that a file specification names."""
    if isinstance(value, dict):
        value = _got(value, "/UF") or _got(value, "/F")
    return _text_of(value)


def _text_of(value: Any) -> str:
    if isinstance(value, bytes):
        value = value.decode("latin-1")
    return value.strip() if isinstance(value, str) else ""


def _literal(written: bytes | None, digits: bytes | None) -> str:
    """Return the text of a string object. written: in brackets, with escapes. digits: in hex."""
    if digits is not None:
        octets = bytes.fromhex(digits.decode("ascii") + "0" * (len(b"".join(digits.split())) % 2))
    else:
        octets = _ESCAPED.sub(_octet, written or b"")
    if octets.startswith(b"\xfe\xff"):
        return octets[2:].decode("utf-16-be", "replace")
    return octets.decode("latin-1")


def _octet(match: re.Match[bytes]) -> bytes:
    if match[1]:
        return bytes((int(match[1], 8) & 0xFF,))
    return b"" if match[2] else match[3]


def _got(holder: Any, name: str) -> Any:
    """Return an entry of a dictionary, whether it stands there or is referred to."""
    value = holder.get(name) if isinstance(holder, dict) else None
    return None if value is None else value.get_object()
