"""A refused form, filled again with the values that were sent, the wrong field marked.

Works on the finished page, so it holds for every form that templates make, also future ones:
values are kept, the field that an error names gets `aria-invalid`, `aria-describedby` and the
message beside it, and after a conflict each field shows the present value. Passwords are not filled
in. Hidden fields keep the values of the page: they record the shown state, which is now the newest.
Invariant: typed values are escaped as the templates escape them.
"""

from __future__ import annotations

import html
import re
from collections.abc import Mapping
from typing import Final

from markupsafe import Markup, escape

from manager.console.language import _
from manager.console.visible_text import typed as as_typed
from manager.console.visible_text import visible
from shared.frozen import frozen

__all__ = ["Refusal", "refill", "shows_form"]

_FORM: Final = re.compile(
    r'<form\b(?P<marks>[^>]*\bmethod="post"[^>]*)>(?P<inside>.*?)</form>', re.S
)
_CONTROL: Final = re.compile(
    r"<input\b[^>]*>|<textarea\b[^>]*>.*?</textarea>|<select\b[^>]*>.*?</select>", re.S
)
_ATTRIBUTE: Final = re.compile(r'([a-z-]+)(?:="([^"]*)")?')
_OPTION: Final = re.compile(r"<option\b([^>]*)>(.*?)</option>", re.S)
_TOKENS: Final = frozenset(("csrf", "back", "shown", "confirmed"))
_UNTYPED: Final = frozenset(("hidden", "submit", "button", "password", "file"))
_VALUE: Final = re.compile(r'\svalue="[^"]*"')
_CHECKED: Final = re.compile(r"\schecked(?=[\s>])")
_SELECTED: Final = re.compile(r"\sselected(?=[\s>])")
_FOCUS: Final = re.compile(r"\sautofocus(?=[\s>])")


@frozen
class Refusal:
    """The refusal of a form. action: where it was sent; typed: its fields.

    field: the name of the wrong one; empty: of all together. message: finished marks. conflict:
    what the form was about has changed since it was shown.
    """

    action: str
    typed: Mapping[str, str]
    message: Markup
    field: str = ""
    conflict: bool = False


def shows_form(page: str, refusal: Refusal) -> bool:
    """Return whether a page has the form that was sent, with a field that a person fills in."""
    found = _found(page, refusal)
    return found is not None and any(map(_is_filled_in, _CONTROL.findall(found["inside"])))


def refill(page: str, refusal: Refusal) -> str:
    """Return the page with the values that were sent, and the message beside the wrong field."""
    found = _found(page, refusal)
    if found is None:
        return page
    inside = found["inside"]
    controls = [each[0] for each in _CONTROL.finditer(inside)]
    wrong = next((each for each in controls if _is_wrong(each, refusal)), None)
    filled = _CONTROL.sub(lambda each: _filled(each[0], refusal, is_wrong=each[0] == wrong), inside)
    if wrong is None and any(map(_is_filled_in, controls)):
        filled = f'<p class="field-error" id="form-error">{refusal.message}</p>{filled}'
    # Another field must not take the focus from the wrong one.
    before, behind = page[: found.start("inside")], page[found.end("inside") :]
    if wrong is not None:
        before, behind = _FOCUS.sub("", before), _FOCUS.sub("", behind)
    return f"{before}{filled}{behind}"


def _found(page: str, refusal: Refusal) -> re.Match[str] | None:
    """Return the form that was most likely sent: of its action, and about the same thing."""
    best, most = None, -1
    for form in _FORM.finditer(page):
        marks = _attributes(form["marks"])
        if marks.get("action", "").partition("?")[0] != refusal.action:
            continue
        same = _likeness(form["inside"], refusal.typed)
        if same > most:
            best, most = form, same
    return best


def _likeness(inside: str, typed: Mapping[str, str]) -> int:
    """Return how many hidden fields equal those sent; -1 if one names another subject."""
    same = 0
    for control in _CONTROL.findall(inside):
        marks = _attributes(control)
        name = marks.get("name", "")
        if marks.get("type") != "hidden" or name in _TOKENS or name not in typed:
            continue
        if marks.get("value", "") != typed[name]:
            return -1
        same += 1
    return same


def _attributes(tag: str) -> dict[str, str]:
    head = tag.partition(">")[0]
    return {name: html.unescape(value) for name, value in _ATTRIBUTE.findall(head)}


def _is_filled_in(control: str) -> bool:
    return _attributes(control).get("type", "") not in _UNTYPED - {"password"}


def _is_wrong(control: str, refusal: Refusal) -> bool:
    marks = _attributes(control)
    return bool(refusal.field) and marks.get("name") == refusal.field and _is_filled_in(control)


def _filled(control: str, refusal: Refusal, *, is_wrong: bool) -> str:
    marks = _attributes(control)
    name, kind = marks.get("name", ""), marks.get("type", "")
    made = control
    if kind in ("checkbox", "radio"):
        made = _ticked(control, is_ticked=refusal.typed.get(name) == marks.get("value", "on"))
    elif name in refusal.typed and kind not in _UNTYPED:
        made = _with_value(control, refusal.typed[name])
    if is_wrong:
        made = _marked(made, f"error-{name.replace(' ', '-')}", refusal.message)
    elif refusal.conflict and name in refusal.typed and kind not in _UNTYPED:
        made += _now(control, refusal.typed[name])
    return made


def _ticked(control: str, *, is_ticked: bool) -> str:
    plain = _CHECKED.sub("", control)
    return f"{plain[:-1]} checked>" if is_ticked else plain


def _with_value(control: str, value: str) -> str:
    said = escape(as_typed(value))
    if control.startswith("<textarea"):
        return f"{control.partition('>')[0]}>\n{said}</textarea>"
    if control.startswith("<select"):
        return _chosen(control, value)
    return f'{_VALUE.sub("", control)[:-1]} value="{said}">'


def _chosen(control: str, value: str) -> str:
    plain = _SELECTED.sub("", control)
    for option in _OPTION.finditer(plain):
        if _option_value(option) == value:
            at = option.start() + len("<option")
            return f"{plain[:at]} selected{plain[at:]}"
    if not value:
        return control
    said = escape(as_typed(value))
    gone = f'<option value="{said}" selected>{escape(visible(value))}</option>'
    return f"{plain.removesuffix('</select>')}{gone}</select>"


def _option_value(option: re.Match[str]) -> str:
    return _attributes(option[1]).get("value", html.unescape(option[2]))


def _marked(control: str, name: str, message: Markup) -> str:
    head, end, rest = control.partition(">")
    head = _FOCUS.sub("", f"{head} ").rstrip()
    made = f'{head} aria-invalid="true" aria-describedby="{name}" autofocus{end}{rest}'
    return f'{made}<span class="field-error" id="{name}">{message}</span>'


def _now(control: str, value: str) -> str:
    """Return a note with the present value if another value was typed."""
    now = _present(control)
    if now == value:
        return ""
    said = _("now: %(value)s", value=visible(now) or _("empty"))
    return f'<span class="field-now quiet">{escape(said)}</span>'


def _present(control: str) -> str:
    if control.startswith("<textarea"):
        return html.unescape(control.partition(">")[2].removesuffix("</textarea>")).lstrip("\n")
    if control.startswith("<select"):
        options = list(_OPTION.finditer(control))
        chosen = next((one for one in options if "selected" in _attributes(one[1])), None)
        return _option_value(chosen or options[0]) if options else ""
    return _attributes(control).get("value", "")
