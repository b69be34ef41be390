"""A refused form on its page: typed values kept, the wrong field marked.

If its page cannot be shown, the refusal is a separate page (`error_pages`), which keeps the typed
values, too.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from manager.console.messages.sentences import sentence_of
from manager.console.rendering import coded
from manager.console.requests.cookies import Flash
from manager.console.requests.form_refill import Refusal, refill, shows_form
from manager.console.requests.page import PREFIX, Address, Page, addresses
from manager.console.requests.visit import Visit
from manager.errors import BusyError, SlowDownError
from shared.errors import ConflictError, PrsmError

__all__ = ["form_again"]

_log: Final = logging.getLogger(__name__)


def form_again(
    visit: Visit, page: Page, error: PrsmError, pages: Sequence[Page]
) -> Response | None:
    """Return the page of a refused form with the sent values; None if no page can show it.

    page: the form was sent to. pages: all of the console.
    """
    status = visit.services.status_of(error)
    if status is None:
        return None
    sentence = sentence_of(error.message)
    refusal = Refusal(
        action=visit.here,
        typed=visit.form,
        message=coded(sentence),
        field=error.field,
        conflict=isinstance(error, ConflictError),
    )
    found = [_page(visit, one, sentence) for one in addresses(visit, page, pages)]
    shown = [text for text in found if text is not None]
    text = next((each for each in shown if shows_form(each, refusal)), shown[-1] if shown else None)
    if text is None or (_has_words(visit.form) and not shows_form(text, refusal)):
        return None
    headers = {}
    if isinstance(error, BusyError | SlowDownError):
        headers["Retry-After"] = str(max(1, error.retry_after_s))
    return HTMLResponse(refill(text, refusal), status, headers)


def _has_words(form: Mapping[str, str]) -> bool:
    """Return whether something may have been typed that would be lost without its form."""
    return any(" " in value.strip() or "\n" in value.strip() for value in form.values())


def _page(visit: Visit, address: Address, sentence: str) -> str | None:
    """Return a page in its present state, with the refusal above it; None if it cannot be shown."""
    seen = replace(
        visit,
        request=_request(visit.request, address),
        query=address.fields,
        form={},
        refusal=Flash("refused", sentence),
    )
    try:
        made = address.page.answer(seen)
    except PrsmError:
        return None
    except Exception as error:  # noqa: BLE001  # the refusal is still shown
        _log.warning("%s: cannot be shown after a refusal: %s", address.path, error)
        return None
    return bytes(made.body).decode() if made.status_code == 200 else None


def _request(request: Request, address: Address) -> Request:
    """Return the request as if it asked for a page, but that it still is a POST."""
    path = f"{PREFIX}{address.path}"
    scope: dict[str, Any] = {
        **request.scope,
        "path": path,
        "raw_path": path.encode(),
        "query_string": address.query.encode(),
        "path_params": dict(address.numbers),
    }
    return Request(scope)
