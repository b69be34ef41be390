"""Reads the links of a PDF: what its annotations, outlines and opening actions lead to.

pypdf reads it, page by page, because it is Python: a file that was built to break a reader raises.
Where it fails, or takes too long, `/URI (...)` is searched for in the bytes as well, which finds
what stands outside of compressed objects. Text that merely looks like an address is no link.
Source: ISO 32000-1, 12.5.6.5 (link annotations), 12.6.4.3 (remote go-to), 12.6.4.7 (URI actions).
"""

from __future__ import annotations

import io
import logging
import re
from collections.abc import Iterator
from typing import Any, Final

from agent.modules.page.cpu_budget import Budget, OverBudgetError, cpu_budget

__all__ = ["pdf_references"]

MOST_PAGES: Final = 5_000
MOST_OUTLINES: Final = 10_000
MOST_LINKS: Final = 50_000

_URI: Final = re.compile(rb"/URI\s{0,10}\(((?:[^()\\]|\\.){1,2000})\)", re.DOTALL)
_ESCAPED: Final = re.compile(rb"\\(.)", re.DOTALL)


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
            found[_ESCAPED.sub(rb"\1", match[1]).decode("latin-1")] = None
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
    yield from _of_action(catalog, "/OpenAction")
    for number, page in enumerate(reader.pages):
        if number >= MOST_PAGES or budget.is_over:
            break
        annotations = _got(page, "/Annots")
        for one in annotations if isinstance(annotations, list) else ():
            if budget.is_over:
                return
            yield from _of_action(one.get_object(), "/A")
    yield from _of_outlines(_got(catalog, "/Outlines"))


def _of_outlines(outlines: Any) -> Iterator[str]:
    left, looked_at = [_got(outlines, "/First")], 0
    while left and looked_at < MOST_OUTLINES:
        one = left.pop()
        looked_at += 1
        if isinstance(one, dict):
            yield from _of_action(one, "/A")
            left += [_got(one, "/Next"), _got(one, "/First")]


def _of_action(holder: Any, name: str) -> Iterator[str]:
    action = _got(holder, name)
    if not isinstance(action, dict):
        return
    value = _got(action, "/URI")
    if value is None and action.get("/S") in ("/GoToR", "/Launch"):
        value = _got(action, "/F")
        if isinstance(value, dict):
            value = _got(value, "/UF") or _got(value, "/F")
    if isinstance(value, bytes):
        value = value.decode("latin-1")
    if isinstance(value, str) and value.strip():
        yield value.strip()


def _got(holder: Any, name: str) -> Any:
    """Return an entry of a dictionary, whether it stands there or is referred to."""
    value = holder.get(name) if isinstance(holder, dict) else None
    return None if value is None else value.get_object()
