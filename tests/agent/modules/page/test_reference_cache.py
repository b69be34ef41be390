"""What references name, remembered from page to page."""

from __future__ import annotations

import pytest

from agent.modules.page import addresses
from agent.modules.page.addresses import Addresses

FOLDER = "http://a.example/d/"


@pytest.fixture(autouse=True)
def nothing_known() -> None:
    addresses.forget_references()


def all_of(page: str, *references: str, codec: str = "utf-8") -> tuple[str, ...]:
    return Addresses(FOLDER + page, codec).resolve_all(
        list(references), bytes(len(references)), 99
    )[0]


def test_what_names_a_part_of_the_page_is_not_remembered() -> None:
    """Pages of one folder share `next.html`, and not `?n=1`."""
    for page in ("a.html", "b.html"):
        assert all_of(page, "?n=1", "\t?n=2", "#top", "next.html") == (
            f"{FOLDER}{page}?n=1",
            f"{FOLDER}{page}?n=2",
            f"{FOLDER}{page}",
            f"{FOLDER}next.html",
        )
    assert list(addresses.folder_memory(FOLDER)) == ["next.html"]


def test_what_hangs_on_the_encoding_is_not_remembered() -> None:
    """The same text leads elsewhere from a page in Shift_JIS."""
    assert all_of("a", "s?q=日", codec="cp932") == (f"{FOLDER}s?q=%93%FA",)
    assert all_of("b", "s?q=日") == (f"{FOLDER}s?q=%E6%97%A5",)


def test_references_that_lead_nowhere_are_remembered_as_such() -> None:
    """A `mailto:` of every page is looked at once."""
    assert all_of("a", "mailto:x@b.example") == ()
    assert addresses.folder_memory(FOLDER) == {"mailto:x@b.example": None}
    assert all_of("b", "mailto:x@b.example", "c") == (f"{FOLDER}c",)


@pytest.mark.timeout(60)
def test_memory_is_bounded_whatever_comes() -> None:
    """Neither many references, nor many folders, nor long ones make it grow."""
    for number in range(40_000):
        Addresses(f"{FOLDER}{number}/", "utf-8").resolve_all(["a", f"b{number}"], bytes(2), 9)
    assert sum(1 + len(known) for known in addresses._folders.values()) <= addresses.MAX_REMEMBERED
    addresses.forget_references()
    all_of("p", "x" * 1000)
    assert addresses._folders == {FOLDER: {}}
    assert Addresses(f"{FOLDER}{'y' * 1000}/", "utf-8").resolve_all(["a"], bytes(1), 9)[0]
    assert list(addresses._folders) == [FOLDER]
