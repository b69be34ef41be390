"""Catalogues are whole: each code in each language, with the same parameters, each of them used."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from shared.messages import LANGUAGES, codes, template
from shared.messages.catalogue import CODE, FOLDER, WORDS, parameters, pieces, read_subject

ROOT: Final = Path(__file__).parents[3]
PROGRAMS: Final = ("agent", "manager", "shared")
FORMS: Final = {
    "duration": ("_ms", "_s"),
    "moment": ("_ms",),
    "size": ("_bytes",),
    "percent": ("share",),
}
KANA: Final = re.compile(r"[\u3040-\u30ff\u4e00-\u9fff]")
UNTRANSLATED: Final = frozenset(("general.text",))
"""Templates that hold no word of a language, beside those of parameters and marks only."""


def _calls() -> Iterator[tuple[str, ast.Call]]:
    """Yield each call in the programs whose first argument is a code of the catalogues."""
    for program in PROGRAMS:
        for path in sorted((ROOT / program).rglob("*.py")):
            for node in ast.walk(ast.parse(path.read_text())):
                if isinstance(node, ast.Call):
                    yield f"{path.relative_to(ROOT)}:{node.lineno}", node


def _code(node: ast.expr) -> str | None:
    is_text = isinstance(node, ast.Constant) and isinstance(node.value, str)
    return node.value if is_text and CODE.fullmatch(node.value) else None  # type: ignore[attr-defined]


def _made() -> Iterator[tuple[str, str, ast.Call]]:
    """Yield where a message is made, with its code."""
    for where, call in _calls():
        name = (
            call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
        )
        if name != "Message" and not name.endswith("Error"):
            continue
        for given in call.args[:2]:
            code = _code(given)
            if code is not None:
                yield where, code, call


@pytest.mark.parametrize("language", LANGUAGES)
def test_each_language_has_each_code(language: str) -> None:
    """No code is in one catalogue only."""
    assert set(codes(language)) == set(codes())


@pytest.mark.parametrize("language", LANGUAGES)
def test_templates_have_the_parameters_of_the_source(language: str) -> None:
    """A translation uses what the English sentence uses, and no more."""
    wrong = {
        code: found
        for code in codes()
        if (found := parameters(template(code, language) or "")) != parameters(template(code) or "")
    }
    assert wrong == {}


@pytest.mark.parametrize("language", LANGUAGES)
def test_parameters_are_named_by_what_they_are(language: str) -> None:
    """A length of time, a moment and a size end in their unit; nothing is looked up in them."""
    wrong = []
    for code in codes(language):
        for piece in pieces(template(code, language) or ""):
            ends = FORMS.get(piece.form)
            plain = not piece.name or piece.name.isidentifier()
            if not plain or (ends is not None and not piece.name.endswith(ends)):
                wrong.append(f"{code}: {piece.name}")
    assert wrong == []


def test_japanese_is_japanese() -> None:
    """A template with words in it is translated."""
    same = [
        code
        for code in set(codes()) - UNTRANSLATED
        if re.search("[A-Za-z]{3,}", "".join(one.text for one in pieces(template(code) or "")))
        and not KANA.search(template(code, "ja") or "")
    ]
    assert sorted(same) == []


def test_words_are_in_each_language() -> None:
    """States, kinds and units have a word in each."""
    assert set(read_subject("en", WORDS)) == set(read_subject("ja", WORDS))


SAME_IN_ENGLISH: Final = {
    ("general.fraction", "general.times"): "Japanese writes `10 times fewer` as a tenth",
    ("general.fraction_over", "general.times_over"): "as above",
}
"""Pairs of codes with one English template, with the reason."""


def test_each_sentence_has_one_code() -> None:
    """Templates that differ in parameters and letter case only are one; most are words."""
    found: dict[str, list[str]] = {}
    for code in codes():
        texts = [one.text for one in pieces(template(code) or "")]
        words = "{}".join(texts).lower()
        if re.search("[a-z]", words):
            found.setdefault(words, []).append(code)
    same = [tuple(pair) for pair in found.values() if len(pair) > 1]
    assert set(same) == set(SAME_IN_ENGLISH)


def test_codes_can_be_looked_up() -> None:
    """A name in a catalogue follows the grammar of codes."""
    wrong = [code for language in LANGUAGES for code in codes(language) if not CODE.fullmatch(code)]
    assert wrong == []
    assert {path.name for path in FOLDER.iterdir() if path.is_dir()} - {"__pycache__"} == {
        *LANGUAGES
    }


def test_each_message_that_is_made_is_in_the_catalogue() -> None:
    """Its code is there, and it has each parameter of its sentence."""
    wrong = []
    for where, code, call in _made():
        text = template(code)
        if text is None:
            wrong.append(f"{where}: {code} is in no catalogue")
            continue
        given = {one.arg for one in call.keywords}
        lost = parameters(text) - given
        if lost and None not in given:
            wrong.append(f"{where}: {code} lacks {', '.join(sorted(lost))}")
    assert wrong == []


def test_each_code_is_used() -> None:
    """A sentence that no program says any more is removed. A code may be made of two parts."""
    text = "\n".join(
        path.read_text() for program in PROGRAMS for path in (ROOT / program).rglob("*.py")
    )
    begun = re.findall(r"f\"([a-z_]+\.[a-z0-9_]*)\{", text)
    said = set(re.findall(r"\"([a-z][a-z0-9_]*\.[a-z0-9][a-z0-9_]*)\"", text))
    unused = [code for code in codes() if code not in said and not code.startswith(tuple(begun))]
    assert unused == []


SPOKEN: Final = ("manager/cli/", "agent/cli/", "manager/console/locale")
"""Folders that are an edge themselves: they print and show."""
NAMES_OF_SENTENCES: Final = frozenset(
    ("reason", "problem", "why", "detail", "text", "message", "remedy", "explanation")
)


def _is_sentence(node: ast.expr) -> bool:
    """Return whether an expression is English: a text with words in it, made in place."""
    if isinstance(node, ast.JoinedStr):
        parts = [str(one.value) for one in node.values if isinstance(one, ast.Constant)]
        return " " in "".join(parts) and len(re.findall(r"[a-z]{2,}", " ".join(parts))) > 1
    is_text = isinstance(node, ast.Constant) and isinstance(node.value, str)
    return is_text and len(re.findall(r"[A-Za-z']{2,}", node.value)) > 1 and " " in node.value  # type: ignore[attr-defined]


def _english(path: Path) -> Iterator[int]:
    """Yield the lines on which a sentence for a person is made outside of a catalogue."""
    for node in ast.walk(ast.parse(path.read_text())):
        if not isinstance(node, ast.Call):
            continue
        name = (
            node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        )
        said = list(node.args) if name in MAKERS else []
        if name.endswith("Error") and name not in INNER:
            said += node.args
        said += [one.value for one in node.keywords if one.arg in NAMES_OF_SENTENCES]
        if name not in LOGS | DECLARED and any(map(_is_sentence, said)):
            yield node.lineno


INNER: Final = frozenset(
    ("AssertionError", "ValueError", "TypeError", "KeyError", "RuntimeError", "OSError",
     "NotImplementedError", "FileExistsError", "ConnectionError", "BrokenPipeError", "IndexError",
     "_NoListError")
)  # fmt: skip
"""Errors that no person meets: mistakes of ours, and what a library raises."""
MAKERS: Final = frozenset(("of_text", "Message", "Trouble", "Condition", "Check"))
"""Records and functions that hold a message for a person."""
DECLARED: Final = frozenset(("setting",))
"""Declarations that hold their English beside unit and default; other languages have catalogues."""
LOGS: Final = frozenset(("debug", "info", "warning", "error", "exception"))


def test_no_sentence_is_made_outside_of_the_catalogues() -> None:
    """In the agent and the manager, below their edges, and in what all programs share.

    Not in `launcher`: it must work beside a damaged release, so it reads no catalogue and imports
    of `shared` only `versions` and `plurals`. Not in `client`: it is a third party's program, with
    one language and its own exit codes.
    """
    wrong = [
        f"{name}:{line}"
        for program in PROGRAMS
        for path in sorted((ROOT / program).rglob("*.py"))
        if not (name := str(path.relative_to(ROOT))).startswith(SPOKEN)
        for line in _english(path)
    ]
    assert wrong == []


def test_a_sentence_in_place_is_found(tmp_path: Path) -> None:
    """The check above sees what it forbids."""
    path = tmp_path / "operation.py"
    path.write_text(
        'raise NotFoundError(f"host {host}: not known")\n'
        'Message.of_text("there is no such host")\n'
        'end(tx, reason="moved by hand")\n'
        'raise NotFoundError("hosts.unknown", host=host)\n'
        "tx.end(reason=FINISHED)\n"
    )
    assert list(_english(path)) == [1, 2, 3]
