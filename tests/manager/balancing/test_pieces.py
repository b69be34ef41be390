"""A big host is cut into few even pieces: each page in one of them, none forgotten."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from manager.balancing.errors import BalancingError
from manager.balancing.pieces import CRUMB, EVEN, FINENESS, Cut, cut
from shared.units import UnitIndex

HOST = "http://www.example.jp:80"

names = st.sampled_from(["a", "b", "c", "d", "~koji"])
directories = st.lists(names, max_size=4).map(lambda parts: "/" + "".join(f"{p}/" for p in parts))
sites = st.dictionaries(directories, st.integers(0, 1000).map(float), max_size=60)


def part_of(made: Cut, page: str) -> list[int]:
    """Return the parts that hold a page, as the agents will see it: by the longest unit."""
    index = UnitIndex(HOST + unit for part in made.parts for unit in part)
    unit = index.unit_of(HOST + page)
    assert unit is not None
    return [number for number, part in enumerate(made.parts) if unit.removeprefix(HOST) in part]


@given(sites, st.integers(1, 8))
def test_each_page_lies_in_one_part_and_the_sums_say_so(site: dict[str, float], parts: int) -> None:
    """Parts are disjoint and cover the host; the work of each is the sum of its directories."""
    made = cut(site, parts)
    sums = [0.0] * len(made.parts)
    for directory, weight in site.items():
        [part] = part_of(made, directory + "page.html")
        sums[part] += weight
    assert sums == pytest.approx(list(made.weights))
    assert "/" in made.parts[0]
    assert 1 <= len(made.parts) <= parts


@given(sites, st.integers(1, 8))
def test_no_part_is_longer_than_the_directories_make_it(site: dict[str, float], parts: int) -> None:
    """Beyond the mean there is at most one directory's own pages: the bound of list scheduling."""
    made = cut(site, parts)
    mean = sum(site.values()) / parts
    indivisible = max(site.values(), default=0.0)
    crumbs = CRUMB * mean * len(site)
    finest = mean + max(mean / FINENESS[-1], indivisible) + crumbs
    # A part that nothing came to is left out of the cut, so its mean may be higher than this one.
    assert max(made.weights) <= max(EVEN * sum(made.weights) / len(made.weights), finest) + 1e-6


@given(sites, st.integers(1, 8), st.integers(1, 12))
def test_there_are_never_more_units_than_asked_for(
    site: dict[str, float], parts: int, most: int
) -> None:
    """The number of units is bounded, and none is named twice."""
    made = cut(site, parts, most)
    units = [unit for part in made.parts for unit in part]
    assert len(units) == len(set(units)) == made.units <= most


def test_four_even_directories_are_four_units() -> None:
    """What is even already is not cut finer: few units are few lines."""
    site = {"/": 1.0, **{f"/{name}/": 100.0 for name in "abcd"}}
    site |= {f"/{name}/{number}/": 10.0 for name in "abcd" for number in range(10)}
    made = cut(site, 4)
    assert made.units == 4
    assert made.unevenness < 1.01


def test_one_user_of_many_gets_no_unit_without_need() -> None:
    """A thousand small directories are cut as far as the number of units allows, heaviest first."""
    site = {f"/~{number:04d}/": float(number) for number in range(1000)}
    made = cut(site, 4, most_units=100)
    assert made.units <= 100
    carved = {unit for part in made.parts for unit in part} - {"/"}
    assert min(carved) == f"/~{1000 - len(carved):04d}/"


def test_a_host_whose_pages_lie_under_one_directory_is_cut_below_it() -> None:
    """A chain of directories with nothing of its own costs no units."""
    site = {f"/cgi/site/{name}/": 100.0 for name in "abcd"}
    made = cut(site, 4)
    assert made.unevenness == pytest.approx(1.0)
    assert {"/cgi/", "/cgi/site/"}.isdisjoint(unit for part in made.parts for unit in part)


def test_a_host_of_one_directory_stays_whole() -> None:
    """Pages that lie side by side cannot be told apart by a prefix."""
    assert cut({"/": 1000.0}, 4).parts == (frozenset({"/"}),)
    assert cut({}, 4).parts == (frozenset({"/"}),)


@pytest.mark.parametrize(
    ("site", "parts", "most"),
    [({"/": 1.0}, 0, 5), ({"/": 1.0}, 1, 0), ({"a/": 1.0}, 1, 5), ({"/": -1.0}, 1, 5)],
)
def test_numbers_that_mean_nothing_are_refused(
    site: dict[str, float], parts: int, most: int
) -> None:
    """Parts, units, paths and work each have their bounds."""
    with pytest.raises(BalancingError, match=r"must|at least|already"):
        cut(site, parts, most)
