"""Links behind the commands of sentences."""

from __future__ import annotations

from manager.console.messages.command_links import link_commands

LOGS = '(<a href="/console/logs">Logs</a>)'
TRASH = '(<a href="/console/trash">Trash</a>)'


def test_a_command_of_a_sentence_is_followed_by_its_page() -> None:
    """Behind the code, so that a command is never the only remedy."""
    said = "<p>See <code>prsm logs</code>.</p>"
    assert link_commands(said) == f"<p>See <code>prsm logs</code> {LOGS}.</p>"


def test_a_command_within_a_link_is_followed_by_its_page_behind_the_link() -> None:
    """HTML knows no link within a link."""
    codes = "<code>prsm logs</code> or <code>prsm archive trash</code>"
    said = f'<a href="/console/audit">Use {codes}.</a>'
    assert link_commands(f"{said} <p>") == f"{said} {LOGS} {TRASH} <p>"


def test_a_link_elsewhere_moves_nothing() -> None:
    """One before a command, and one behind it, do not hold it."""
    before, behind = '<a href="/a">A</a> ', ' <a href="/b">B</a>'
    said = "<code>prsm logs</code>"
    assert link_commands(before + said + behind) == f"{before}{said} {LOGS}{behind}"
