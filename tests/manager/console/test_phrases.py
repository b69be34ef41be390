"""Sentences of operations are said in the language of the page, and only those that there are."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from contextvars import copy_context
from functools import cache
from pathlib import Path

import pytest

import agent
import manager
from agent.control.drain import Holds
from manager.assignment.liveness import AgentFacts, liveness
from manager.console.language import speak
from manager.console.phrases import PHRASES, spoken

FOLDERS = (Path(manager.__file__).parent, Path(agent.__file__).parent)
HOUR_MS = 3_600_000
KANA = re.compile(r"[\u3040-\u30ff]")


def _constants(tree: ast.AST) -> Iterator[str]:
    """Yield the strings of a module, `{}` where a value stands."""
    inside = {
        id(each)
        for text in ast.walk(tree)
        if isinstance(text, ast.JoinedStr)
        for each in ast.walk(text)
        if each is not text
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            yield "".join(
                str(part.value) if isinstance(part, ast.Constant) else "{}" for part in node.values
            )
        elif isinstance(node, ast.Constant) and id(node) not in inside:
            yield str(node.value)


@cache
def _said() -> str:
    """Return all that the source of manager and agents says, its values left out."""
    texts = [
        text
        for folder in FOLDERS
        for path in folder.rglob("*.py")
        if path.name not in ("phrases.py", "setting_phrases.py")
        for text in _constants(ast.parse(path.read_text()))
    ]
    return "\n".join(texts)


@pytest.mark.parametrize("phrase", [each.text for each in PHRASES])
def test_a_shape_is_still_said(phrase: str) -> None:
    """The words of each shape, between its values, stand in the source that makes the sentence."""
    pieces = [piece.strip(" ,:") for piece in re.split(r"%\(\w+\)s|, ", phrase)]
    lost = [piece for piece in pieces if piece not in _said()]
    assert not lost


def _japanese(text: str) -> str:
    def say() -> str:
        speak("ja")
        return spoken(text).replace("\u00a0", " ")

    return copy_context().run(say)


@pytest.mark.parametrize(
    "facts",
    [
        AgentFacts("sync", None, HOUR_MS),
        AgentFacts("sync", 0, HOUR_MS, retired=True),
        AgentFacts("sync", 0, HOUR_MS, promised_ms=HOUR_MS),
        AgentFacts("sync", 0, 99 * HOUR_MS, promised_ms=HOUR_MS),
        AgentFacts("sync", 0, HOUR_MS, promised_ms=9 * HOUR_MS, says_state="asleep"),
        AgentFacts("plain", 0, 99 * HOUR_MS),
        AgentFacts("sync", 5 * HOUR_MS, HOUR_MS, says_state="paused", says=Holds(("site",)).reason),
        AgentFacts("sync", 5 * HOUR_MS, HOUR_MS, says_state="draining"),
        *(
            AgentFacts("sync", 5 * HOUR_MS, HOUR_MS, worked, 6 * HOUR_MS, 0, held, queue, says=says)
            for worked in (None, 0, 5 * HOUR_MS - 1000)
            for held in (0, 3)
            for queue in (None, 0, 12_000)
            for says in ("", "<b>")
        ),
    ],
)
def test_whatever_an_agent_does_is_said_in_japanese(facts: AgentFacts) -> None:
    """Every sentence about how an agent is, is known whole; only its own words stay as they are."""
    reason = liveness(facts, 5 * HOUR_MS).reason
    said = _japanese(reason)
    assert KANA.search(said), reason
    assert not re.search(r"[a-z]{2,}", re.sub("<b>|URL|`[^`]*`", "", said)), said


@pytest.mark.parametrize(
    ("english", "japanese"),
    [
        ("user name or password is wrong", "名前またはパスワードが違います"),
        ("last heard 3 h 20 min ago", "最終通信は3 時間 20 分前"),
        (
            "agent x: there is none; see `prsm agents`",
            "ロボット x はありません、`prsm agents` を参照",
        ),
        ("a sentence of tomorrow", "a sentence of tomorrow"),
        ("a new sentence; import it first", "a new sentence、先に登録してください"),
        (
            "tree: the makespan is 16.4 s (a.example), 3.4% above the best possible.",
            "tree: 全体の所要時間は 16.4 秒(a.example)、最良値より 3.4% 長い。",
        ),
        (
            "Step 1: a gives b 3 units (2.0 s). Makespan 4.5 s (a).",
            "段階 1: a から b へ 3 担当単位(2.0 秒)。全体の所要時間 4.5 秒(a)。",
        ),
        ("agent a is late: it has never called", "ロボット a は遅延: まだ一度も通信がありません"),
        ("", ""),
    ],
)
def test_clauses_are_said_one_by_one(english: str, japanese: str) -> None:
    """A clause that is not known stays as it came, beside those that are."""
    assert _japanese(english) == japanese
    assert spoken(english) == english
