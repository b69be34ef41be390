"""Uploads are limited in number and in rate."""

from __future__ import annotations

import pytest

from manager.agent_api import Uploads
from manager.errors import BusyError, SlowDownError
from manager.intake.body_errors import SenderShareError
from shared.errors import Fault
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


def test_an_agent_has_a_share() -> None:
    """It may have some under way; one more is told to come back, and others are not concerned."""
    uploads = Uploads(16, 100, Clock(), per_agent=2)
    with uploads.one(1), uploads.one(1):
        with pytest.raises(SenderShareError, match=r"limits\.uploads_per_agent") as caught:
            uploads.one(1).__enter__()
        assert (caught.value.code, caught.value.value, caught.value.limit) == (
            Fault.SENDER_UPLOADS, 2, 2
        )  # fmt: skip
        assert caught.value.retry_after_s > 0
        with uploads.one(2):
            pass
    with uploads.one(1):
        pass


def test_the_last_places_are_for_who_has_none() -> None:
    """Where half of all places are taken, an agent that has one gets no second."""
    uploads = Uploads(4, 100, Clock(), per_agent=4)
    with uploads.one(1), uploads.one(1):
        with pytest.raises(SenderShareError):
            uploads.one(1).__enter__()
        with uploads.one(2):
            with pytest.raises(SenderShareError):
                uploads.one(2).__enter__()
            with uploads.one(3), pytest.raises(BusyError):
                uploads.one(4).__enter__()


def test_an_agent_has_a_share_of_bytes() -> None:
    """What it declares counts as long as it is under way; one body alone may be of any size."""
    uploads = Uploads(16, 100, Clock(), per_agent=4, bytes_per_agent=1000)
    with uploads.one(1, 2000):
        with pytest.raises(SenderShareError, match=r"limits\.queued_bytes_per_agent") as caught:
            uploads.one(1, 1).__enter__()
        assert caught.value.code == Fault.SENDER_BYTES
        with uploads.one(2, 600), uploads.one(2, 400):
            pass
    with uploads.one(1, 500), uploads.one(1, 500):
        pass
