"""Sentences in rows of the version before become codes with parameters, and go back."""

from __future__ import annotations

import importlib

import pytest
import sqlalchemy as sa
from alembic import command

from manager.db.engine import Database
from manager.db.migrate import _config, migrate
from manager.db.tables import metadata
from migrations.old_sentences import COLUMNS, SENTENCES
from migrations.sentence_codes import code_of, sentence_of
from shared.messages import Message, message_of_row, render, template
from shared.messages.catalogue import parameters

STEP = importlib.import_module("migrations.versions.0048_message_codes")
LATE = (
    "agent a is late: last heard 3 h 20 min ago; it was expected 5 min ago; "
    "others take its units in 2 h"
)
DOUBTS = (
    "its times of 1 unit are 10 times longer than its own of before; "
    "its bytes of 3 units are partly far from those of the others"
)


@pytest.mark.parametrize(
    ("sentence", "groups", "code", "params"),
    [
        ("plan 7: tree", ("ownership",), "ownership.by_plan", {"plan": 7, "method": "tree"}),
        ("excluded", ("ownership", "planning"), "ownership.host_excluded", {}),
        ("excluded", ("planning",), "ownership.host_excluded", {}),
        ("cancelled by koji", ("planning",), "general.cancelled_by", {"name": "koji"}),
        (
            "a-1.warc.gz: 1 capture, 3 of excluded hosts: not kept",
            ("segments",),
            "segments.accepted_in_parts",
            {"captures": 1, "parts": [Message("segments.part_discarded", captures=3)]},
        ),
        (
            LATE,
            ("alerts",),
            "alerts.agent_state",
            {
                "name": "a",
                "state": "late",
                "why": Message(
                    "fleet.state_late",
                    silent_ms=12_000_000, overdue_ms=300_000, left_ms=7_200_000,
                ),
            },
        ),
        (
            "1.4.0: went-back at test. no page; none",
            ("updates",),
            "releases.not_updated_because",
            {"version": "1.4.0", "outcome": "went-back", "step": "test", "detail": "no page; none"},
        ),
    ],
)  # fmt: skip
def test_a_sentence_becomes_its_code(
    sentence: str, groups: tuple[str, ...], code: str, params: dict[str, object]
) -> None:
    """Values are what they were: numbers, lengths of time, messages."""
    row = code_of(sentence, groups)
    assert row is not None
    assert message_of_row(row) == Message(code, **params)


def test_several_doubts_are_one_message() -> None:
    """They were written one behind the other."""
    message = message_of_row(code_of(DOUBTS, ("suspects",)))
    assert message is not None
    assert message.code == "measurement.doubts"
    assert len(message.params["doubts"]) == 2
    assert "{" not in render(message, "ja")


@pytest.mark.parametrize("text", ["complete", "a person wrote this", "x" * 9_000, "a.b {"])
def test_what_is_not_known_stays(text: str) -> None:
    """Words of agents and people are theirs."""
    for _, _, groups in COLUMNS:
        assert code_of(text, groups) is None


@pytest.mark.parametrize("group", SENTENCES)
def test_each_sentence_has_a_code_of_today_with_its_parameters(group: str) -> None:
    """As long as the catalogues have it; no sentence is shown with a hole."""
    wrong = []
    for sentence, code, *kinds in SENTENCES[group]:
        needed = parameters(template(code) or f"{{no {code}}}")
        given = set().union(*kinds) | parameters(sentence.replace("%(", "{").replace(")s", "}"))
        if needed - given:
            wrong.append(f"{code} lacks {needed - given}")
    assert wrong == []


@pytest.mark.parametrize("few", [1_000, 0])
def test_rows_are_rewritten_and_go_back(
    database: Database, few: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By sentence where there are few, else row by row; downgraded, the old version reads them."""
    monkeypatch.setattr(STEP, "FEW", few)
    monkeypatch.setattr(STEP, "BATCH", 2)
    config = _config()
    told = [f"cancelled by u{number}" for number in range(5)] + ["", "asked for by the owner"]
    with database.write() as tx:
        metadata.drop_all(tx.connection)
        tx.execute(sa.text("DROP TABLE alembic_version"))
        config.attributes["connection"] = tx.connection
        command.upgrade(config, "0047")
        for number, reason in enumerate(told, 1):
            tx.execute(
                sa.text(
                    "INSERT INTO rounds (number, method, state, started_ms, reason) "
                    "VALUES (:number, 'tree', 'cancelled', 5, :reason)"
                ),
                {"number": number, "reason": reason},
            )
    migrate(database)
    query = sa.text("SELECT reason FROM rounds ORDER BY number")
    with database.write() as tx:
        rows = [row[0] for row in tx.execute(query)]
        assert rows[:5] == [f'general.cancelled_by {{"name":"u{number}"}}' for number in range(5)]
        assert rows[5:] == told[5:]
        config.attributes["connection"] = tx.connection
        command.downgrade(config, "0047")
        assert [row[0] for row in tx.execute(query)] == told
    migrate(database)


def test_a_sentence_comes_back() -> None:
    """What a version before cannot read is written as it knows it."""
    for _, _, groups in COLUMNS:
        for group in groups:
            for sentence, *_ in SENTENCES[group]:
                if "%" not in sentence:
                    row = code_of(sentence, groups)
                    assert row is not None, sentence
                    assert sentence_of(row, groups) is not None, row
