"""The bounded memory remembers what came lately and forgets the rest."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from agent.modules.recent_memory import Recent


@given(size=st.integers(2, 20), keys=st.lists(st.integers(0, 30)))
def test_bounded_and_never_wrong_about_the_new(size: int, keys: list[int]) -> None:
    """What was never met is always new; the last half of its size is never forgotten."""
    recent = Recent(size)
    met: list[int] = []
    for key in keys:
        new = recent.add(key)
        if key not in met:
            assert new
        if key in list(dict.fromkeys(reversed(met)))[: size // 2 - 1]:
            assert not new
        met.append(key)
        assert len(recent) <= size
        assert key in recent


@given(
    size=st.integers(2, 20),
    met=st.lists(st.text(max_size=2)),
    asked=st.lists(st.text(max_size=2), unique=True),
)
def test_what_is_unknown_of_many(size: int, met: list[str], asked: list[str]) -> None:
    """Asking for many at once says the same as asking one by one, in their order."""
    recent = Recent(size)
    for text in met:
        recent.add(hash(text))
    unknown = recent.unknown(asked)
    assert unknown == [text for text in asked if hash(text) not in recent]
    other = Recent(size)
    for text in met:
        other.add(hash(text))
    for text in unknown:
        recent.add(hash(text))
        other.enter(hash(text))
    assert [hash(text) in recent for text in asked] == [hash(text) in other for text in asked]
    assert len(recent) == len(other) <= size + 1


def test_forgetting_makes_new() -> None:
    """A key that was taken out is new again."""
    recent = Recent(10)
    assert recent.add("a")
    recent.forget("a")
    assert "a" not in recent
    assert recent.add("a")
