"""The list in force is on the disk, whole, and a broken one never takes its place."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import pytest

from agent.errors import LinkError
from agent.link.manager_list import ManagerList
from agent.link.poller import ListNumber
from shared.wire.orders import ListHead, Order, head_lines, order_lines
from shared.wire.server_list import Comment, ListLine, encode

UNITS = [Order(f"http://h{number}.example.jp:80/", max_transfer=50) for number in range(3)]


def coming(server_list: ManagerList, lines: Iterable[ListLine], cut: int | None = None) -> None:
    server_list.new_list_path.write_bytes(b"".join(encode(lines))[:cut])


def lines(generation: int, orders: Iterable[Order] = UNITS) -> list[ListLine]:
    return [*head_lines(ListHead(2, generation)), *order_lines(orders)]


@pytest.fixture
def server_list(tmp_path: Path) -> ManagerList:
    return ManagerList(tmp_path / "list.gz", limit_bytes=10_000)


def test_nothing_is_held_at_first(server_list: ManagerList) -> None:
    """A new home holds no list."""
    assert server_list.held() == ListNumber()
    assert list(server_list.orders()) == []
    server_list.drop()


def test_a_list_is_in_force_over_restarts(server_list: ManagerList, tmp_path: Path) -> None:
    """What was accepted is read again by the next process, until a restart drops it."""
    coming(server_list, lines(7))
    assert server_list.held() == ListNumber()
    assert server_list.accept() == ListNumber(2, 7)
    again = ManagerList(tmp_path / "list.gz", limit_bytes=10_000)
    assert again.held() == ListNumber(2, 7)
    assert list(again.orders()) == UNITS
    again.drop()
    assert again.held() == ListNumber()


def test_an_empty_list_is_a_list(server_list: ManagerList) -> None:
    """Nothing assigned is a list too, and takes the place of the one before."""
    coming(server_list, lines(7))
    server_list.accept()
    coming(server_list, lines(8, []))
    assert server_list.accept() == ListNumber(2, 8)
    assert list(server_list.orders()) == []


@pytest.mark.parametrize("cut", [0, 5, -9, -1])
def test_a_list_that_was_cut_is_refused(server_list: ManagerList, cut: int) -> None:
    """A list that broke off on its way leaves the one before in force, and no file behind."""
    coming(server_list, lines(7))
    server_list.accept()
    coming(server_list, lines(8), cut)
    with pytest.raises(LinkError, match="cannot be used"):
        server_list.accept()
    assert server_list.held() == ListNumber(2, 7)
    assert not server_list.new_list_path.exists()


def test_a_list_that_is_too_large_is_refused(server_list: ManagerList) -> None:
    """What decodes to more than the limit is given up early."""
    coming(server_list, lines(8, [Order("http://a.jp:80/" + "x" * 900 + "/")] * 20))
    with pytest.raises(LinkError, match="more than 10000 bytes"):
        server_list.accept()


@pytest.mark.parametrize("name", ["Round", "Generation", "Interval", "Share"])
@pytest.mark.parametrize("digits", [19, 5000])
def test_a_number_that_nobody_can_count_with_is_refused(
    server_list: ManagerList, name: str, digits: int
) -> None:
    """It would end the process, and the next one, as long as the list is in force."""
    given = lines(8)
    comment = Comment(f"{name}={'9' * digits}")
    given = [comment, *given] if name in ("Round", "Generation") else [*given, comment]
    coming(server_list, given)
    with pytest.raises(LinkError, match=f"#{name}=999999999999999999...: has {digits} digits"):
        server_list.accept()
    coming(server_list, [*lines(8), Comment(f"Colour={'9' * digits}")])
    assert server_list.accept() == ListNumber(2, 8)


def test_a_list_without_its_number_is_refused(server_list: ManagerList) -> None:
    """A list that does not say which it is cannot be acknowledged."""
    coming(server_list, order_lines(UNITS))
    with pytest.raises(LinkError, match="#Generation="):
        server_list.accept()


def test_a_file_that_the_disk_broke_is_no_list(server_list: ManagerList, tmp_path: Path) -> None:
    """A list that cannot be read any more is taken anew."""
    (tmp_path / "list.gz").write_bytes(b"not gzip")
    assert server_list.held() == ListNumber()
    assert list(server_list.orders()) == []
