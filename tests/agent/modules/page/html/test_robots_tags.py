"""What pages say to robots."""

from __future__ import annotations

import pytest

from agent.modules.page.html.robots_tags import RobotsTag, read_tags


@pytest.mark.parametrize(
    ("metas", "headers", "nofollow", "noindex"),
    [
        ([], [], False, False),
        ([("robots", "NOINDEX,NOFOLLOW")], [], True, True),
        ([("ROBOTS", "none")], [], True, True),
        ([("robots", "index, follow")], [], False, False),
        ([("googlebot", "nofollow")], [], False, False),
        ([("prsm", "nofollow")], [], True, False),
        ([("description", "nofollow")], [], False, False),
        ([], ["noindex"], False, True),
        ([], ["otherbot: noindex, nofollow"], False, False),
        ([], ["PRSM: nofollow", "noindex"], True, True),
        ([], ["unavailable_after: 25 Jun 2030 15:00:00 PST, noindex"], False, True),
    ],
)
def test_reads_the_wishes_that_are_ours(
    metas: list[tuple[str, str]], headers: list[str], nofollow: bool, noindex: bool
) -> None:
    """Wishes to all robots and to us count, those to others do not."""
    assert read_tags(metas, headers, "prsm") == RobotsTag(nofollow, noindex)
