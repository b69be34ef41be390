"""One address does not take all connections."""

from __future__ import annotations

from dataclasses import dataclass

from manager.app.web.address_shares import make_room


@dataclass(eq=False)
class Connection:
    """A connection of an address."""

    address: str
    since_s: float = 0.0
    is_idle: bool = True
    is_receiving: bool = True
    closed: bool = False

    def give_back(self) -> None:
        """Note that it was closed."""
        self.closed = True


def closed(
    connections: list[Connection], most: int = 100, *, keeps_whole: bool = False
) -> list[Connection]:
    """Make room; return what was closed."""
    count = make_room(connections, most, keeps_whole)
    gone = [one for one in connections if one.closed]
    assert len(gone) == count
    return gone


def test_nothing_is_closed_while_there_is_room() -> None:
    """As long as a tenth is free all stay."""
    assert closed([Connection("a") for _ in range(89)]) == []


def test_the_oldest_idle_ones_of_who_has_most_are_closed() -> None:
    """Some at once; nobody else loses any, however long they have been idle."""
    others = [Connection(f"10.0.0.{each}", -1.0) for each in range(30)]
    many = [Connection("a", float(each)) for each in range(60)]
    gone = closed([*others, *many])
    assert gone == many[:5]


def test_requests_are_spared_behind_a_proxy() -> None:
    """Where all have one address, what is answered goes on, and idle ones make room."""
    busy = [Connection("proxy", 0.0, is_idle=False, is_receiving=False) for _ in range(85)]
    idle = [Connection("proxy", 5.0) for _ in range(10)]
    assert closed([*busy, *idle]) == idle[:5]
    assert closed(busy + [Connection("b") for _ in range(5)], keeps_whole=True) == []


def test_bodies_that_never_end_make_room_for_others() -> None:
    """Of an address that holds more than half of all, unfinished requests are closed."""
    slow = [Connection("a", float(each), is_idle=False) for each in range(80)]
    assert closed([*slow, *[Connection("b", -1.0) for _ in range(10)]]) == slow[:5]
    few = [Connection(f"10.0.0.{each // 40}", 0.0, is_idle=False) for each in range(90)]
    assert closed(few) == []


def test_an_address_with_more_than_half_loses_any() -> None:
    """Also where each of its requests is being answered: else it keeps everybody out."""
    theirs = [Connection("a", float(each), is_idle=False, is_receiving=False) for each in range(60)]
    others = [Connection(f"10.0.0.{each}", -1.0, is_idle=False) for each in range(35)]
    assert closed([*others, *theirs]) == theirs[:5]


def test_a_proxy_loses_none_that_is_being_answered() -> None:
    """Its connections are many senders'."""
    theirs = [Connection("a", is_idle=False, is_receiving=False) for _ in range(95)]
    assert make_room(theirs, 100, keeps_whole=True) == 0
    theirs[7].is_receiving = True
    assert make_room(theirs, 100, keeps_whole=True) == 1
    assert theirs[7].closed
