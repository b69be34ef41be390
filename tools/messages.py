"""Bring the console's catalogues up to date with its templates and Python: `make messages`.

What `_()`, `ngettext()`, `pgettext()`, `lazy()`, `plazy()` and `{% trans %}` hold is taken out; a
new message enters each catalogue empty, one that is no longer used leaves it. Then each is
compiled: the `.mo` beside it is what the manager reads, and is kept in the repository, so that
nothing has to be built to install or start. `--check` writes nothing and fails where something
would change.
"""

from __future__ import annotations

import argparse
import io
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from babel.messages.catalog import Catalog
from babel.messages.extract import extract_from_dir
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po, write_po

CONSOLE: Final = Path(__file__).resolve().parent.parent / "manager" / "console"
LOCALE: Final = CONSOLE / "locale"
METHODS: Final = [("templates/**.html", "jinja2"), ("**.py", "python")]
KEYWORDS: Final = {
    "_": None,
    "gettext": None,
    "lazy": None,
    "ngettext": (1, 2),
    "pgettext": ((1, "c"), 2),
    "plazy": ((1, "c"), 2),
}
OPTIONS: Final = {"templates/**.html": {"trimmed": "true", "silent": "false"}}
DAY: Final = datetime(2026, 1, 1, tzinfo=UTC)
HEADER: Final = "# What the console says. `make messages` brings it up to date."


def extracted() -> Catalog:
    """Return what the console says now, all of it untranslated."""
    found = Catalog(fuzzy=False)
    rows = extract_from_dir(
        CONSOLE, METHODS, OPTIONS, KEYWORDS, ("Translators:",), strip_comment_tags=True
    )
    for path, _line, message, comments, context in rows:
        found.add(message, None, [(path, 0)], auto_comments=comments, context=context)
    return found


def updated(path: Path, template: Catalog) -> Catalog:
    """Return a catalogue with exactly the messages of the template; nothing is guessed."""
    with path.open("rb") as file:
        old = read_po(file, locale=path.parent.parent.name)
    old.update(template, no_fuzzy_matching=True)
    old.obsolete.clear()
    old.header_comment = HEADER
    old.project, old.version, old.language_team = "PRSM", "console", old.locale_identifier or ""
    old.msgid_bugs_address = old.last_translator = "PRSM"
    # The day does not stand in the file: the same messages make the same bytes.
    old.creation_date = old.revision_date = DAY
    return old


def po_bytes(catalogue: Catalog) -> bytes:
    """Return a catalogue as its file, in an order that does not depend on lines of the source."""
    text = io.BytesIO()
    write_po(
        text, catalogue, width=100, sort_by_file=True, include_lineno=False, ignore_obsolete=True
    )
    return text.getvalue()


def mo_bytes(catalogue: Catalog) -> bytes:
    """Return a catalogue as the manager reads it."""
    packed = io.BytesIO()
    write_mo(packed, catalogue)
    return packed.getvalue()


def made() -> Iterator[tuple[Path, bytes]]:
    """Yield each file with what should be in it."""
    template = extracted()
    for path in sorted(LOCALE.glob("*/LC_MESSAGES/*.po")):
        catalogue = updated(path, template)
        yield path, po_bytes(catalogue)
        yield path.with_suffix(".mo"), mo_bytes(catalogue)


def main() -> None:
    """Write what changed, or only say so."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing, fail on a difference")
    check = parser.parse_args().check
    old = [path for path, data in made() if not path.exists() or path.read_bytes() != data]
    if check and old:
        sys.exit(f"not up to date: {', '.join(path.name for path in old)}; run `make messages`")
    for path, data in made():
        path.write_bytes(data)
        print(f"{path.relative_to(CONSOLE)}: {len(data):,} bytes")


if __name__ == "__main__":
    main()
