"""Rendering of templates into pages.

Invariants: every expression is escaped, and before that its hidden characters are made visible; a
name that a template does not know is an error, not an empty text. Functions here return finished
marks (`Markup`); what goes into them is treated the same way. So are the values of translated
sentences: `{{ _("…") }}` is a text and is escaped, `{% trans %}` may hold marks.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final
from urllib.parse import unquote_plus

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape

from manager.console import figures, language
from manager.console.language import Lazy
from manager.console.messages import audit_words, sentences
from manager.console.messages.browser_names import browser_name
from manager.console.messages.command_links import link_commands
from manager.console.moments import mark_moments, time_mark
from manager.console.static_files import asset_url, icon_text
from manager.console.visible_text import typed, visible
from shared.plurals import with_plurals

__all__ = [
    "ago",
    "coded",
    "dotted",
    "finished",
    "host_name",
    "marks",
    "moment",
    "render",
    "render_text",
    "state",
]

FOLDER: Final = Path(__file__).parent / "templates"
_STATES: Final = re.compile(r"[a-z-]+")
_CODE: Final = re.compile(r"`([^`]+)`")
_JOINT: Final = re.compile(r"(\.(?![0-9])|/(?!/|$|[0-9]{2}[/ ]))")
_OPTION: Final = re.compile(r"(?<![^\s])(--?[a-z][a-z-]*)")


def render(template: str, **values: Any) -> str:
    """Return the text of a page."""
    return link_commands(mark_moments(_templates.get_template(template).render(**values)))


def render_text(source: str, **values: Any) -> str:
    """Return what a template's source makes; for tests of the rules above."""
    return mark_moments(_templates.from_string(source).render(**values))


def finished(value: Any) -> Any:
    """Return a value of an expression as it may be escaped: translated, nothing hidden."""
    if isinstance(value, Lazy):
        return str(value)
    return visible(value) if isinstance(value, str) and not isinstance(value, Markup) else value


def _text(text: str, **values: Any) -> Markup | str:
    """Return a sentence for `{{ _("…") }}`; values that are marks stay marks."""
    said = language._(text)
    if not values:
        return said
    made = escape(said) % _all_finished(values)
    # Sentences with several numbers have one form in the source.
    return Markup(with_plurals(made)) if language.current() == language.SOURCE else made  # noqa: S704


def _marked(text: str, **values: Any) -> Markup:
    """Return a sentence for `{% trans %}`: its own marks hold, its values are escaped."""
    said = language._(text)
    return Markup(said) % _all_finished(values)  # noqa: S704  # the template's or a catalogue's


def _marked_number(one: str, many: str, num: int, **values: Any) -> Markup:
    """Return a sentence for `{% trans %}` with `{% pluralize %}`; Jinja hands `num` on itself."""
    said = language.plural(one, many, num)
    shown = {"num": language.number(num), **_all_finished(values)}
    return Markup(said) % shown  # noqa: S704  # the template's or a catalogue's


def _all_finished(values: dict[str, Any]) -> dict[str, Any]:
    return {name: finished(value) for name, value in values.items()}


def _icon(name: str) -> Markup:
    """Return one of the icons that are kept in the tree, as decoration."""
    return Markup(icon_text(name))  # noqa: S704  # a file of ours


def marks(template: str, *values: str) -> Markup:
    """Return marks with values in the places `%s`; many on a page, so without `Markup.format`."""
    return Markup(template % tuple(map(escape, values)))  # noqa: S704  # ours, its values escaped


def _choices(names: Iterable[str], chosen: str) -> Markup:
    """Return the options of a menu of names, of which there may be thousands."""
    made = []
    for name in names:
        shown = escape(visible(name))
        selected = " selected" if name == chosen else ""
        made.append(f'<option value="{shown}"{selected}>{shown}</option>')
    return Markup("".join(made))  # noqa: S704  # as above


def _suggestions(names: Iterable[str]) -> Markup:
    """Return the options that a field suggests, of which there may be thousands."""
    made = [f'<option value="{escape(visible(name))}"></option>' for name in names]
    return Markup("".join(made))  # noqa: S704  # as above


def moment(at_ms: int | None) -> Markup | str:
    """Return a moment: UTC, which the browser's script turns into the viewer's zone."""
    if at_ms is None:
        return figures.NOTHING
    return Markup(time_mark(figures.iso(at_ms), figures.moment(at_ms)))  # noqa: S704  # digits


def _planned(at_ms: int, zone: str, said: str) -> Markup:
    """Return a moment by a clock in a zone. said: it in that zone, which UTC is only as text."""
    iso, utc = figures.iso(at_ms), figures.moment(at_ms)
    if zone != "UTC":
        return marks('<time datetime="%s" title="%s">%s</time>', iso, utc, visible(said))
    mark = '<time datetime="%s" data-moment="weekday" title="%s">%s</time>'
    return marks(mark, iso, utc, figures.minute(at_ms))


def ago(at_ms: int | None, now_ms: int, never: str = "") -> Markup | str:
    """Return how long ago a moment was; the moment itself on hover. never: where there was none."""
    if at_ms is None:
        return never or language._("never")
    iso, utc, said = figures.iso(at_ms), figures.moment(at_ms), figures.ago(at_ms, now_ms)
    return marks('<time datetime="%s" title="%s">%s</time>', iso, utc, said)


def state(text: str) -> Markup:
    """Return a state as a word with a mark before it, coloured by the style sheet."""
    name = text if _STATES.fullmatch(text) else "unknown"
    return marks('<span class="state state-%s">%s</span>', name, visible(sentences.word(text)))


def _outward(url: str | None) -> Markup | str:
    """Return a link to a crawled page where it is http or https, else its text."""
    if not url:
        return figures.NOTHING
    shown = visible(url)
    if not url.lower().startswith(("http://", "https://")):
        return shown
    mark = '<a href="%s" rel="noreferrer noopener nofollow" class="outward">%s</a>'
    return marks(mark, shown, shown)


def host_name(key: str) -> Markup:
    """Return a host's key as people read it: the scheme and the usual port quietly."""
    scheme, mark, rest = visible(key).partition("://")
    if not mark:
        return escape(scheme)
    name = rest.removesuffix("/")
    usual = {"http": ":80", "https": ":443"}.get(scheme, "")
    quiet = marks('<span class="quiet">%s://</span>', scheme) if scheme != "http" else Markup("")
    return quiet + (name.removesuffix(usual) if usual else name)


def dotted(text: str) -> Markup:
    """Return a name or URL that may be broken behind its dots and slashes, where it must be.

    Not in numbers: a version, an address or a date falls apart there.
    """
    return Markup(_JOINT.sub(r"\1<wbr>", str(escape(finished(text)))))  # noqa: S704


def coded(text: str) -> Markup:
    """Return a sentence whose parts between backticks are code."""
    return Markup(_CODE.sub(r"<code>\1</code>", str(escape(finished(text)))))  # noqa: S704


def _commands(text: str) -> Markup:
    """Return lines for a shell whose options are not broken behind their dashes."""
    return Markup(_OPTION.sub(r'<span class="option">\1</span>', str(escape(text))))  # noqa: S704


def _typed(text: str) -> Markup:
    """Return typed text exactly, for the fields of a form."""
    return escape(typed(text))


def _environment() -> Environment:
    made = Environment(
        loader=FileSystemLoader(FOLDER),
        extensions=["jinja2.ext.i18n"],
        autoescape=True,
        undefined=StrictUndefined,
        finalize=finished,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.policies["ext.i18n.trimmed"] = True
    # The extension hands values to gettext itself, so that each goes through `finished`.
    made.newstyle_gettext = True  # type: ignore[attr-defined]  # the extension adds it
    made.globals |= {
        "_": _text,
        "gettext": _marked,
        "ngettext": _marked_number,
        "pgettext": language.pgettext,
        "languages": language.LANGUAGES,
        "step": sentences.step,
        "unit": sentences.unit,
        "run": sentences.run,
        "act": audit_words.act,
        "word": sentences.word,
        "asset": asset_url,
        "icon": _icon,
        "moment": moment,
        "planned": _planned,
        "ago": ago,
        "state": state,
        "outward": _outward,
        "host_name": host_name,
        "choices": _choices,
        "suggestions": _suggestions,
    }
    made.filters |= {
        "browser": browser_name,
        "actor": sentences.actor,
        "capitalized": figures.capitalized,
        "coded": coded,
        "commands": _commands,
        "count": figures.count,
        "amount": figures.amount,
        "kbytes": figures.kbytes,
        "rate": figures.rate,
        "speed": figures.speed,
        "change": figures.change,
        "decoded": unquote_plus,
        "figure": figures.figure,
        "dotted": dotted,
        "duration": figures.duration,
        "skew": figures.skew,
        "sentence_of": sentences.sentence_of,
        "typed": _typed,
    }
    return made


_templates: Final = _environment()
