"""Dead names and a dead network."""

from __future__ import annotations

from agent.modules.outage import Silence


def test_several_silent_names_in_a_row_are_us() -> None:
    """One name may fail for ever; when several do and none is found, it is our network."""
    silence = Silence(3, 100.0)
    for _ in range(9):
        silence.failed("http://a.example:80/", 10.0)
    assert not silence.is_ours(10.0)
    silence.failed("http://b.example:80/", 20.0)
    silence.failed("http://c.example:80/", 30.0)
    assert silence.is_ours(30.0)


def test_an_answer_ends_it() -> None:
    """One answer from any name server shows that the network works."""
    silence = Silence(1, 100.0)
    silence.failed("http://a.example:80/", 10.0)
    assert silence.is_ours(10.0)
    silence.answered()
    assert not silence.is_ours(10.0)


def test_it_is_not_believed_for_ever() -> None:
    """An agent whose last names are all dead comes to an end."""
    silence = Silence(1, 100.0)
    silence.failed("http://a.example:80/", 10.0)
    silence.failed("http://a.example:80/", 90.0)
    assert silence.is_ours(110.0)
    assert not silence.is_ours(110.1)
