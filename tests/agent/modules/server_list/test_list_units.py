"""A list's lines become what is wanted of each unit."""

from __future__ import annotations

from agent.modules.counts import EXAMPLES, StopCounts
from agent.modules.server_list.list_change import wanted_of
from agent.pipeline.messages.jobs import ServerList
from shared.wire.orders import ListHead, Order

A = "http://a.example:80/"


def test_what_is_no_unit_and_no_page_of_one_is_counted() -> None:
    """Lines that mean nothing here are skipped, counted and shown."""
    orders = (Order(A), Order("ftp://x.example/"), Order("http://else.example/page"))
    wanted = wanted_of(ServerList(ListHead(3), orders))
    assert (wanted.round, list(wanted.units)) == (3, [A])
    counts = StopCounts()
    for _ in range(EXAMPLES + 1):
        counts.add_all(wanted.skipped)
    assert counts.count("list: no URL to crawl") == EXAMPLES + 1
    shown = counts.by_reason["list: start page of no unit of the list"]
    assert shown.examples == ["http://else.example/page"] * EXAMPLES


def test_pieces_of_split_hosts_are_known_before_the_list_is_taken() -> None:
    """A probe of one is no piece."""
    for order, shares in ((Order(A, share=2), True), (Order(A, max_transfer=9, share=2), False)):
        assert wanted_of(ServerList(ListHead(1), (order,))).shares_hosts is shares
