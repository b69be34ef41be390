"""Codes for why nothing of a host can be fetched, the same in manager, agent and their messages.

Sentences are made where they are shown. A newer program may know more codes: a reader keeps an
unknown one unchanged.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Final

from shared.messages.catalogue import word

__all__ = ["LOOK_UP_FAILURES", "HostFailure", "failure_words", "is_naming_failure"]


class HostFailure(StrEnum):
    """Reasons for which a host has no address, or does not answer at its addresses."""

    NO_SUCH_NAME = "no_such_name"  # NXDOMAIN
    NO_ADDRESS = "no_address"  # the name exists, without A and AAAA
    NOT_A_NAME = "not_a_name"  # DNS cannot hold it
    NAME_TIMEOUT = "name_timeout"
    NAME_REFUSED = "name_refused"  # REFUSED
    NAME_SERVER_FAILED = "name_server_failed"  # SERVFAIL
    NAME_SERVER_AWAY = "name_server_away"  # nothing listens there, or no way leads there
    NAME_UNANSWERED = "name_unanswered"  # another kind of failure
    FORBIDDEN_ADDRESS = "forbidden_address"  # `AddressRules` refuses an address of it
    UNREACHABLE = "unreachable"  # it has an address, and no page came from there
    ASKS_FOR_TIME = "asks_for_time"  # Retry-After, 429, 503 or Crawl-delay: more than a crawl waits


LOOK_UP_FAILURES: Final = frozenset(HostFailure) - {
    HostFailure.UNREACHABLE,
    HostFailure.ASKS_FOR_TIME,
}
"""Those that leave a host without an address."""


def failure_words(code: str) -> str:
    """Return a code in English words; one of a newer version without its underscores."""
    return word(code).replace("_", " ")


def is_naming_failure(code: str) -> bool:
    """Return whether a code means that a host has no address to crawl."""
    return code in LOOK_UP_FAILURES
