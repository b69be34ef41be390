"""Sentences of operations are said in the language of the page, and only those that there are."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from contextvars import copy_context
from pathlib import Path
from typing import get_args

import pytest
import re2
import sqlalchemy as sa

import agent
import manager
import shared
from manager.assignment.liveness import LivenessState
from manager.console.language import speak
from manager.console.messages import phrases, words
from manager.console.messages.phrases import CLAUSE, PHRASES, actor, actor_meant, pattern, spoken
from manager.console.messages.words import word
from manager.db.tables import metadata
from manager.operations.releases.update_reports import OUTCOMES
from manager.settings import Settings, setting_lines
from shared.wire.sync import CommandName

FOLDERS = [Path(one.__path__[0]) for one in (manager, agent, shared)]
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


def test_no_shape_hides_another() -> None:
    """The more particular come first: what one shape makes, no earlier one takes."""
    shapes = [(each.text, re.compile(pattern(each.text))) for each in PHRASES]
    hidden = [
        (earlier, text)
        for place, (text, _) in enumerate(shapes)
        for earlier, shape in shapes[:place]
        if shape.fullmatch(re.sub(r"%\(\w+\)s", "X", text))
    ]
    assert not hidden


def _japanese(text: str) -> str:
    def say() -> str:
        speak("ja")
        return spoken(text).replace("\u00a0", " ")

    return copy_context().run(say)


@pytest.mark.parametrize(
    ("english", "japanese"),
    [
        ("user name or password is wrong", "名前またはパスワードが違います"),
        ("last heard 3 h 20 min ago", "最終通信は3 時間 20 分前"),
        (
            "agent x: there is none; see `prsm agents`",
            "x というロボットはありません。`prsm agents` を参照してください",
        ),
        ("a sentence of tomorrow", "a sentence of tomorrow"),
        ("a new sentence; import it first", "a new sentence、先に登録してください"),
        (
            "tree: the makespan is 16.4 s (a.example), 3.4% above the best possible.",
            "全域木(tree): 全体の所要時間は 16.4 秒(a.example)、下界より 3.4% 長い。",
        ),
        (
            "Step 1: a gives b 3 units (2.0 s). Makespan 4.5 s (a).",
            "段階 1: a から b へ 3 件の担当単位(2.0 秒)。全体の所要時間 4.5 秒(a)。",
        ),
        (
            "9 times nearer than the other agents' distances make expect",
            "距離は、他のロボットの距離からの予測の 9 分の 1",
        ),
        (
            "2 times farther than the other agents' distances make expect",
            "距離は、他のロボットの距離からの予測の 2 倍",
        ),
        ("agent a is late: it has never called", "ロボット a は遅延: まだ一度も通信がありません"),
        (
            "agent a did not update to 1.4.0 and went back at the step test: no page; no byte",
            "ロボット a は 1.4.0 に更新できず、元に戻しました(段階: 試験): no page、no byte",
        ),
        (
            "agent a did not update to 1.4.0: refused at the step download",
            "ロボット a は 1.4.0 に更新できませんでした: 拒否(段階: ダウンロード)",
        ),
        (
            "one request took 90 ms; without it the distance is 1 ms per KB",
            "うち 1 リクエストに 90 ミリ秒、それを除いた距離は 1 ミリ秒/KB",
        ),
        ("1.4.0: updated.", "1.4.0: 更新済み。"),
        ("job late: its result is lost", "job late: its result is lost"),
        (
            "Of several ways, the best for its moves: prices over the largest 50%.",
            (
                "試した方法のうち、移動数の割に最も効果が大きいもの: "
                "大きい方から 50% を価格で割り当て。"
            ),
        ),
        ("agent none: there is none", "none というロボットはありません"),
        ("agent a.example takes no part any more", "ロボット a.example は参加しなくなりました"),
        ("http://a.example:80/ was excluded", "http://a.example:80/ は除外されました"),
        (
            "http://a.example:80/~b/ belongs to c.example by now",
            "http://a.example:80/~b/ は現在 c.example の担当です",
        ),
        (
            "a number in this is larger than 99, the largest that is kept; say a smaller one",
            "99(保存できる最大の数)より大きい数が含まれています。これより小さい数を指定してください",
        ),
        ("", ""),
    ],
)
def test_clauses_are_said_one_by_one(english: str, japanese: str) -> None:
    """A clause that is not known stays as it came, beside those that are."""
    assert _japanese(english) == japanese
    assert spoken(english) == english


def test_whatever_a_setting_means_is_said_in_japanese() -> None:
    """Each clause of each is known."""
    found = [
        f"{line.name}: {clause}"
        for line in setting_lines(Settings(data=Path("/")))
        for clause in line.reason.split(CLAUSE)
        if _japanese(clause) == clause
    ]
    assert not found, "\n".join(found)


CONSOLE, OPERATIONS = (FOLDERS[0] / name for name in ("console", "operations"))
NOBODY_READS = (
    # Agents, third parties and scripts are told these, in English as everything of their programs.
    "agent XX does not exist any more",
    "Upload-",
    "sha256 XX",
    "filename XX",
    "upload: there is none of yours",
    "XX uploads of agent",
    "upload of XX",
    "XX: another file of this name was accepted",
    "XX: XX bytes now",
    "this token",
    "no token, or one",
    "client XX is disabled",
    "job XX: there is none of yours",
    "job XX: its result was removed",
    "job XX: is XX",
    "XX jobs of",
    "token: nobody has this one",
    "token for XX",
    "token XX: was revoked",
    "token XX: is over",
    "token XX: its user",
    "token XX makes no tokens",
    "user: is missing",
    "metadata XX",
    "file XX: no release",
    "order XX: there is none for agent",
    # A page says it in a sentence of its own.
    "plan XX is stale",
    # Said of an expression, or of a line: both are shapes.
    "XX: XX is no RE2",
)


def _refusals() -> Iterator[tuple[str, str]]:
    """Yield what pages and the operations that they call refuse with, XX where a value stands."""
    pages = sorted(CONSOLE.rglob("*.py"))
    called = {
        "/".join((*node.module.split(".")[2:], *name))
        for page in pages
        for node in ast.walk(ast.parse(page.read_text()))
        if isinstance(node, ast.ImportFrom)
        and node.module
        and node.module.startswith("manager.operations")
        for name in ((), *((one.name,) for one in node.names))
    }
    operations = sorted(
        {path for name in called if (path := OPERATIONS / f"{name}.py").is_file()}
        | {*(OPERATIONS / "search").glob("*.py")}
    )
    for path in (*pages, *operations):
        for node in ast.walk(ast.parse(path.read_text())):
            if not (isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call)):
                continue
            made = node.exc
            if isinstance(made.func, ast.Name) and made.func.id == "AssertionError":
                continue  # a mistake of ours, which no page shows
            if isinstance(made.func, ast.Attribute) and made.func.attr == "about":
                assert isinstance(made.func.value, ast.Call)
                made = made.func.value
            if made.args:
                for text in _constants(made.args[0]):
                    yield path.name, text.replace("{}", "XX")
                    break


def test_whatever_a_page_refuses_is_said_in_japanese() -> None:
    """Each sentence with which a page or its operation refuses is known, clause by clause."""
    found = [
        f"{name}: {clause}"
        for name, text in _refusals()
        if " " in text and not text.startswith(NOBODY_READS)
        for clause in text.removesuffix(".").split(CLAUSE)
        if not (clause.strip("X") == "" or KANA.search(_japanese(clause)))
    ]
    assert not found, "\n".join(found)


NAMES = frozenset(
    (
        # What files and calls of others are named by, in every language.
        *("root", "targets", "snapshot", "timestamp"),
        *("public", "withheld", "current", "withdrawn"),
        # What no page shows.
        *("drawn", "closed", "created", "deleted"),
    )
)


def test_every_word_of_a_row_is_said_in_japanese() -> None:
    """States, kinds, roles: what a column may hold, pages have a word for."""
    words = {
        value
        for table in metadata.tables.values()
        for one in table.constraints
        if isinstance(one, sa.CheckConstraint)
        for value in re.findall(r"'([^']+)'", str(one.sqltext))
    }
    words |= {*OUTCOMES, *get_args(CommandName), *(state.value for state in LivenessState)}
    assert len(words) > 60

    def untranslated() -> list[str]:
        speak("ja")
        return sorted(one for one in words - NAMES if word(one) == one)

    assert copy_context().run(untranslated) == []


def test_english_words_of_rows_are_written_as_people_do() -> None:
    """Hyphens and underscores are for programs."""
    assert not [said for said in words._words("en").values() if re.search("[-_]", said)]
    assert word("went-back") == "went back"
    assert spoken("1.4.0: went-back at test. no page") == (
        "1.4.0: went back at the step test: no page"
    )


def test_who_is_no_person_has_a_name_that_says_so() -> None:
    """What the clock does the manager does; the name that pages show is understood, too."""
    assert [actor(name) for name in ("tick", "local", "koji", "", None)] == [
        "the manager",
        "the command line",
        "koji",
        "",
        "",
    ]
    assert [actor_meant(name) for name in ("the manager", "tick", "koji")] == [
        "tick",
        "tick",
        "koji",
    ]


def test_what_an_agent_writes_is_looked_through_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Sentences within sentences are followed a little way, however many of them there are."""
    asked = 0
    clause = phrases._clause

    def counted(text: str, depth: int = 0) -> str | None:
        nonlocal asked
        asked += 1
        return clause(text, depth)

    monkeypatch.setattr(phrases, "_clause", counted)
    nested = "no permit: "
    for hostile in (nested * 180 + "x", nested * 60 + "x" + ", z" * 30, nested * 100 + "x, z"):
        assert _japanese(hostile)
    assert asked < 1000


def test_no_shape_tries_all_ways_to_divide_a_text() -> None:
    """All are RE2's, which takes time by a text's length; Python's took seconds for some."""
    assert {type(shape) for _, shape, _ in phrases._shapes()} == {type(re2.compile(""))}
    giver, taker = "a gives " * 60, "b " * 600
    assert _japanese(f"{giver}{taker} units (!") == f"{giver}{taker} units (!"
