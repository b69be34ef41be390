"""Names of segments that were written anew lead back to those before."""

from __future__ import annotations

import pytest

from shared.archive.rewritten import name_before, next_name

NAMED = "prsm-20261122162944-00007-robot.a-w.example.warc.gz"


@pytest.mark.parametrize("name", [NAMED, next_name(NAMED), "old.warc.gz", "old-w.warc.gz"])
def test_a_name_leads_back(name: str) -> None:
    """Also that of one that was written anew twice, and of another program's."""
    assert next_name(name) != name
    assert name_before(next_name(name)) == name


@pytest.mark.parametrize(
    "name", [NAMED, "prsm-20261122162944-00007-robot-w.warc.gz", "old.warc.gz", ""]
)
def test_a_first_name_leads_nowhere(name: str) -> None:
    """Though an agent's name may end as if it had been written anew."""
    assert name_before(name) is None
