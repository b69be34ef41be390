"""Read pages strictly: every element closed where it must be, nothing inline, forms found."""

from __future__ import annotations

from dataclasses import dataclass, field
from html.parser import HTMLParser

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
        """Return whether there is a form that acts by this address."""
        return any(form.action == action and form.method == "post" for form in self.forms)


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.page = Markup()
        self.open: list[Element] = []
        self.form: Form | None = None
        self.select = ""
        self.area = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        names = [name for name, _ in attrs]
        assert len(names) == len(set(names)), f"<{tag}> repeats an attribute: {names}"
        empty = [name for name, value in attrs if value is None and name not in BOOLEAN]
        assert all(name.startswith("data-") for name in empty), f"<{tag}> has bare {empty}"
        element = Element(tag, {name: value or "" for name, value in attrs})
        self.page.elements.append(element)
        if tag not in VOID:
            self.open.append(element)
        self._forms(tag, element.attributes)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert any(each.tag == "svg" for each in self.open), f"<{tag}/> outside SVG"
        self.page.elements.append(Element(tag, {name: value or "" for name, value in attrs}))

    def handle_endtag(self, tag: str) -> None:
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

    def handle_data(self, data: str) -> None:
        self.page.text += data
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
    reader.feed(text)
    reader.close()
    assert not reader.open, f"never closed: {[each.tag for each in reader.open]}"
    return reader.page
