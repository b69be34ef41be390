"""Values are written into a person's file of settings without touching the rest of it."""

from __future__ import annotations

import tomllib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.settings import documented
from shared.errors import SettingError
from shared.settings.merge import merged

FILE = """\
# ours, by Sato
[manager]   # behind the firewall
ca_file = "ca.pem"  # of the computing centre

[windows]
weekday = [
    "02:00-04:00",  # before the backup
    "05:00-08:00",
]   # until people come
# weekend = ["00:00-24:00"]
"""


def test_values_stand_where_a_person_would_write_them() -> None:
    """Over the old value, over the line of the default, under the group, in a group of its own."""
    hours = ["02:00-08:00"]
    assert merged(
        FILE,
        {
            "manager": {"proxy": "http://p:1"},
            "windows": {"weekday": hours, "weekend": ()},
            "robot": {"contact": "a@example.org"},
        },
        "prs.toml",
    ) == (
        "# ours, by Sato\n[manager]   # behind the firewall\n"
        'proxy = "http://p:1"\n'
        'ca_file = "ca.pem"  # of the computing centre\n\n'
        "[windows]\n"
        'weekday = ["02:00-08:00"]  # until people come\n'
        "weekend = []\n"
        '\n[robot]\ncontact = "a@example.org"\n'
    )


def test_what_is_said_already_changes_nothing() -> None:
    """An equal value is no change, however it is written."""
    said: dict[str, Any] = {
        "windows": {"weekday": ("02:00-04:00", "05:00-08:00")},
        "manager": {"ca_file": "ca.pem"},
    }
    assert merged(FILE, said, "prs.toml") == FILE


@pytest.mark.parametrize(
    "text",
    [
        'windows = { weekday = ["01:00-02:00"] }\n',
        'windows.weekday = ["01:00-02:00"]\n',
        '[windows]\n"weekday" = ["01:00-02:00"]\n',
        '["windows"]\nweekend = ["01:00-02:00"]\n',
        '[robot]\ninfo_url = """\n[windows]\n"""\n',
    ],
)
def test_what_lines_cannot_change_is_refused(text: str) -> None:
    """Nothing is guessed: the person is told what to write."""
    with pytest.raises(SettingError, match=r'yourself: weekday = \["02:00-08:00"\] under \[wind'):
        merged(text, {"windows": {"weekday": ["02:00-08:00"]}}, "prs.toml")


def test_a_file_that_is_no_toml_is_refused() -> None:
    """The place of the mistake is said."""
    with pytest.raises(SettingError, match=r"prs\.toml: is not TOML: .*line 1"):
        merged("[windows\n", {"windows": {"weekday": []}}, "prs.toml")


TEXTS = st.text(st.characters(blacklist_categories=["Cs"]), max_size=20)


@given(contact=TEXTS, hours=st.lists(TEXTS, max_size=3), documents=st.booleans())
def test_any_text_is_read_as_it_was_written(
    contact: str, hours: list[str], *, documents: bool
) -> None:
    """Quotes, backslashes and control characters too; and the rest is what it was."""
    text = documented() if documents else FILE
    before: dict[str, Any] = tomllib.loads(text)
    found = tomllib.loads(
        merged(text, {"robot": {"contact": contact}, "windows": {"days": hours}}, "prs.toml")
    )
    assert found["robot"].pop("contact") == contact
    assert found["windows"].pop("days") == hours
    assert found == {"robot": {}, **before}
