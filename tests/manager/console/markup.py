"""Read pages strictly: every element closed where it must be, nothing inline, forms found."""

from __future__ import annotations

import html
import re
from dataclasses import dataclass, field

__all__ = ["Element", "Form", "Markup", "read"]

VOID = frozenset({"br", "hr", "img", "input", "link", "meta", "wbr"})
BOOLEAN = frozenset(
    (
        "autofocus",
        "checked",
        "defer",
        "disabled",
        "download",
        "hidden",
        "popover",
        "required",
        "selected",
    )
)

ATTRIBUTE = re.compile(r"""\s+([^\s"'<>/=]+)(?:="([^"]*)"|='([^']*)')?""")
TOKEN = re.compile(
    r"""<([a-zA-Z][\w-]*)((?:\s+[^\s"'<>/=]+(?:="[^"]*"|='[^']*')?)*)\s*(/?)>"""
    r"|</([a-zA-Z][\w-]*)>|(?i:<!doctype html>)|<!--.*?-->|([^<]+)",
    re.DOTALL,
)
RAW_END = {tag: re.compile(f"</{tag}>") for tag in ("script", "style")}
"""Where text ends that is read as it stands."""


@dataclass
class Element:
    """One start tag."""

    tag: str
    attributes: dict[str, str]
    text: str = ""


@dataclass
class Form:
    """A form with the values that a browser would send."""

    action: str
    method: str
    fields: dict[str, str] = field(default_factory=dict)


@dataclass
class Markup:
    """A page: its elements in order, its text, its forms."""

    elements: list[Element] = field(default_factory=list)
    text: str = ""
    forms: list[Form] = field(default_factory=list)

    def all(self, tag: str) -> list[Element]:
        """Return all elements of a kind."""
        return [element for element in self.elements if element.tag == tag]

    def links(self) -> list[str]:
        """Return where links lead."""
        return [each.attributes["href"] for each in self.all("a") if "href" in each.attributes]

    def form(self, action: str, method: str = "post", **wanted: str) -> Form:
        """Return the form with this action (without its query) and these hidden values."""
        for form in self.forms:
            same = all(form.fields.get(name) == value for name, value in wanted.items())
            if same and (form.action.partition("?")[0], form.method) == (action, method):
                return form
        raise AssertionError(
            f"no form for {action} with {wanted}: {[f.action for f in self.forms]}"
        )

    def has_form(self, action: str) -> bool:
        """Tell whether there is a form that acts by this address."""
        return any(form.action == action and form.method == "post" for form in self.forms)


class _Reader:
    def __init__(self) -> None:
        self.page = Markup()
        self.text: list[str] = []
        self.open: list[Element] = []
        self.form: Form | None = None
        self.select = ""
        self.area = ""

    def read(self, text: str) -> None:
        """Read a page as our templates write it: lower case, each value in quotes."""
        at = 0
        while at < len(text):
            token = TOKEN.match(text, at)
            assert token is not None, f"no markup: {text[at : at + 80]!r}"
            at = token.end()
            tag, attributes, is_empty, end, data = token.groups()
            if data is not None:
                self._take_text(html.unescape(data))
            elif end is not None:
                self._end(end.lower())
            elif tag is not None:
                self._start(tag.lower(), attributes, is_empty=bool(is_empty))
                if tag in RAW_END:
                    raw = RAW_END[tag].search(text, at)
                    assert raw is not None, f"<{tag}> is never closed"
                    self._take_text(text[at : raw.start()])
                    at = raw.start()

    def _start(self, tag: str, written: str, *, is_empty: bool) -> None:
        found = ATTRIBUTE.findall(written)
        attributes = {name.lower(): html.unescape(value or other) for name, value, other in found}
        assert len(found) == len(attributes), f"<{tag}> repeats an attribute: {written}"
        element = Element(tag, attributes)
        self.page.elements.append(element)
        if is_empty:
            assert any(each.tag == "svg" for each in self.open), f"<{tag}/> outside SVG"
            return
        bare = [
            name
            for name, value, other in found
            if not value + other and name not in BOOLEAN and f"{name}=" not in written
        ]
        assert all(name.startswith("data-") for name in bare), f"<{tag}> has bare {bare}"
        if tag not in VOID:
            self.open.append(element)
        self._forms(tag, attributes)

    def _end(self, tag: str) -> None:
        assert self.open, f"</{tag}> closes nothing"
        assert self.open[-1].tag == tag, f"</{tag}> closes <{self.open[-1].tag}>"
        closed = self.open.pop()
        if self.open:
            self.open[-1].text += closed.text
        if tag == "form":
            self.form = None
        if tag == "textarea" and self.form is not None:
            # A line's end right behind the tag is not part of the value.
            self.form.fields[self.area] = closed.text.removeprefix("\n")

    def _take_text(self, data: str) -> None:
        self.text.append(data)
        if self.open:
            self.open[-1].text += data

    def _forms(self, tag: str, attributes: dict[str, str]) -> None:
        if tag == "form":
            assert self.form is None, "a form inside a form"
            method = attributes.get("method", "get")
            self.form = Form(attributes.get("action", ""), method)
            self.page.forms.append(self.form)
        if self.form is None:
            return
        name = attributes.get("name", "")
        if tag == "select":
            self.select = name
        elif tag == "option" and ("selected" in attributes or self.select not in self.form.fields):
            self.form.fields[self.select] = attributes["value"]
        elif tag == "textarea":
            self.area = name
        elif tag == "input" and name:
            chosen = attributes.get("type") not in ("radio", "checkbox")
            if chosen or "checked" in attributes:
                self.form.fields[name] = attributes.get("value", "")


def read(text: str) -> Markup:
    """Return a page; raises AssertionError where it is not well-formed."""
    reader = _Reader()
    reader.read(text)
    reader.page.text = "".join(reader.text)
    assert not reader.open, f"never closed: {[each.tag for each in reader.open]}"
    return reader.page
