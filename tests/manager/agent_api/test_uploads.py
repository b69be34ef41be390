"""Uploads are limited in number and in rate."""

from __future__ import annotations

import pytest

from manager.agent_api import Uploads
from manager.errors import BusyError, SlowDownError
from tests.manager.running import Clock


def test_so_many_at_once() -> None:
    """The limit may be under way; one more is told to come back, and may when one has ended."""
    uploads = Uploads(2, 100, Clock())
    with uploads.one(1), uploads.one(1):
        with pytest.raises(BusyError, match="2 uploads are under way") as caught, uploads.one(2):
            pass
        assert caught.value.retry_after_s > 0
    with uploads.one(2):
        pass


def test_so_many_in_a_minute() -> None:
    """An agent over its rate hears when to come again; others are not concerned."""
    clock = Clock()
    uploads = Uploads(10, 3, clock)
    for _ in range(3):
        with uploads.one(1):
            clock.advance(10)
    with pytest.raises(SlowDownError, match="in 30 s") as caught, uploads.one(1):
        pass
    assert caught.value.retry_after_s == 30
    with uploads.one(2):
        pass
    clock.advance(30)
    with uploads.one(1):
        pass


def test_an_upload_that_fails_has_ended() -> None:
    """An error inside gives the place back."""
    uploads = Uploads(1, 100, Clock())
    with pytest.raises(ValueError, match="broken"), uploads.one(1):
        raise ValueError("broken")
    with uploads.one(1):
        pass


def test_a_clock_that_is_set_back_shuts_nobody_out() -> None:
    """Uploads from the future do not count."""
    clock = Clock()
    uploads = Uploads(10, 1, clock)
    with uploads.one(1):
        pass
    clock.advance(-3600)
    with uploads.one(1):
        pass
