"""Outages of our network, told apart from dead hosts and dead names.

`Outage` judges requests: when those that answered fall silent together, it is us. Only a witness
counts: an address that has answered, and was not silent while another one answered. So the dead
addresses that are left at the end of a crawl say nothing. Until anybody has answered in this
process, any address counts.

    so many witnesses are silent, and no address answers       it is us
    all witnesses are, fewer, for so many requests in a row    it is us

While it is us no host is given up and no attempt counts, and only a few addresses are asked, less
and less often, whether the network is back. That holds for a bounded time: an agent whose last
hosts have all died must come to an end too. A permit lasts shorter than that, so an agent that is
really cut off has stopped asking by then.

`Silence` judges look-ups: when no name server answers those of several names in a row, it is us,
for a bounded time too.
"""

from __future__ import annotations

from typing import Final

__all__ = ["ASKED", "Outage", "Silence"]

ASKED: Final = 3  # addresses at a time, while our network is down
FIRST_PAUSE_S: Final = 20.0  # between two times; then twice as long each
LONGEST_PAUSE_S: Final = 120.0  # so long the network may be back before we know


class Outage:
    """Addresses without an answer since the last answer from anywhere."""

    def __init__(self, addresses: int, requests: int, longest_s: float) -> None:
        """Begin without witnesses.

        addresses: so many silent witnesses are enough. requests: in a row without an answer, where
        all witnesses are fewer. longest_s: for how long it is taken to be us.
        """
        self._addresses = addresses
        self._requests = requests
        self._longest_s = longest_s
        self._heard = False
        self._witnesses: set[str] = set()
        self._silent: set[str] = set()
        self._ends = 0  # of requests to these
        self._since_s = 0.0
        self._pause_s = 0.0
        self._next_s = 0.0

    def answered(self, address: str) -> None:
        """Note an answer: an address that was silent meanwhile is no longer a witness."""
        if self._silent:
            self._witnesses -= self._silent
            self._silent.clear()
            self._ends, self._pause_s, self._next_s = 0, 0.0, 0.0
        self._heard = True
        self._witnesses.add(address)

    def failed(self, address: str, now_s: float) -> None:
        """Note that an address did not answer."""
        if self._heard and address not in self._witnesses:
            return
        if not self._silent:
            self._since_s = now_s
        if self._heard or len(self._silent) < self._addresses:
            self._silent.add(address)
        self._ends += 1

    def forget(self, address: str) -> None:
        """Note that nothing of an address is left to be asked for.

        One that is silent stays a witness: its host may have moved for just that.
        """
        if address not in self._silent:
            self._witnesses.discard(address)

    def is_witness(self, address: str) -> bool:
        """Return whether an address has answered, and may show that the network is back."""
        return address in self._witnesses

    def is_ours(self, now_s: float) -> bool:
        """Return whether it is our own network that is down."""
        silent = self._silent
        if not silent or now_s - self._since_s > self._longest_s:
            return False
        if len(silent) >= self._addresses:
            return True
        return self._heard and self._ends >= self._requests and self._witnesses <= silent

    def may_ask(self, now_s: float) -> bool:
        """Return whether it is time to look if the network is back; the next time is later."""
        if now_s < self._next_s:
            return False
        self._pause_s = min(max(2 * self._pause_s, FIRST_PAUSE_S), LONGEST_PAUSE_S)
        self._next_s = now_s + self._pause_s
        return True


class Silence:
    """Look-ups without an answer since the last answer from anywhere."""

    def __init__(self, names: int, longest_s: float) -> None:
        """Take how many silent names mean us, and for how long."""
        self._names = names
        self._longest_s = longest_s
        self._silent: set[str] = set()
        self._since_s = 0.0

    def answered(self) -> None:
        """Note that a name server answers."""
        self._silent.clear()

    def failed(self, name: str, now_s: float) -> None:
        """Note that a look-up failed."""
        if not self._silent:
            self._since_s = now_s
        if len(self._silent) < self._names:
            self._silent.add(name)

    def is_ours(self, now_s: float) -> bool:
        """Return whether it is our own network that is down."""
        return len(self._silent) >= self._names and now_s - self._since_s <= self._longest_s
