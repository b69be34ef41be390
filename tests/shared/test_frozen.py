"""Dataclasses that compile what makes them when the first of them is made."""

from __future__ import annotations

import pickle
from dataclasses import KW_ONLY, asdict, field, fields, replace

import pytest

from shared.frozen import frozen, record_maker, values_of


@frozen
class Place:
    """With all that a field may be."""

    name: str
    marks: list[int] = field(default_factory=list, hash=False)
    key: str = field(default="k", repr=False)
    note: str = field(default="", compare=False)

    def __post_init__(self) -> None:
        if not self.name:
            raise ValueError("a place has a name")


@frozen
class Far(Place):
    """A kind of it."""

    km: int = 0


@frozen
class Own:
    """With a method of its own where one would be made."""

    x: int

    def __repr__(self) -> str:
        return "mine"


@frozen
class Pair:
    """That does nothing with its values."""

    x: int
    y: str = field(default="", compare=False)


@frozen
class Triple(Pair):
    """With a field more."""

    z: tuple[int, ...] = ()


@frozen
class Checked(Pair):
    """That does more with its values than the class that it is a kind of."""

    z: int = 0

    def __post_init__(self) -> None:
        if self.z < 0:
            raise ValueError("z")


@frozen
class Named(Pair):
    """With a field that is given by its name only."""

    z: int = field(default=0, kw_only=True)


@frozen
class Empty:
    """Without a field."""


@frozen
class ByName:
    """Made by names only, and checked."""

    _: KW_ONLY
    a: int
    b: int

    def __post_init__(self) -> None:
        if self.a < 1:
            raise ValueError("a positive number")


def test_it_is_made_as_a_dataclass_is() -> None:
    """By position or name, with defaults, each with its own list; the second one too."""
    for _ in range(2):
        one, other = Place("a"), Place(name="a", marks=[])
        assert one == other
        assert one.marks is not other.marks
        assert (one.key, one.note) == ("k", "")
    with pytest.raises(TypeError, match="name"):
        Place()  # type: ignore[call-arg]
    with pytest.raises(ValueError, match="has a name"):
        Place("")
    assert (Far("b", km=3).km, Far("b").km) == (3, 0)
    assert Empty() == Empty()


def test_it_compares_and_hashes_by_its_fields() -> None:
    """But not by those that say they do not count; and never equals another kind."""
    assert Place("a", note="x") == Place("a", note="y")
    assert Place("a") != Place("b")
    assert Place("a", [1]) != Place("a", [2])
    assert hash(Place("a", [1], note="x")) == hash(Place("a", [2], note="y"))
    assert Far("a") != Place("a")
    values: object = ("a", [], "k", "")
    assert Place("a") != values
    assert len({Own(1), Own(1), Own(2)}) == 2


def test_it_shows_its_fields() -> None:
    """But not those that must not be shown; what the class itself says goes first."""
    assert repr(Far("a", [1], "secret", km=2)) == "Far(name='a', marks=[1], note='', km=2)"
    assert repr(Own(1)) == "mine"
    itself = Place("a")
    itself.marks.append(itself)  # type: ignore[arg-type]
    assert repr(itself) == "Place(name='a', marks=[...], note='')"


def test_what_works_with_dataclasses_works_with_it() -> None:
    """Copies, pickles, dictionaries; it has slots."""
    one = Place("a", [1])
    assert replace(one, name="b") == Place("b", [1])
    plain = (one, Far("a", [1], "secret", "note", km=2), Own(1), Empty(), Pair(1, "y"))
    kinds = (Triple(1, "y", (2,)), Checked(1, "y", 3), Named(1, "y", z=4))
    for each in (*plain, *kinds):
        again = pickle.loads(pickle.dumps(each))
        assert again == each
        assert [getattr(again, x.name) for x in fields(each)] == [
            getattr(each, x.name) for x in fields(each)
        ]
    assert b"Pair" in pickle.dumps(Pair(1))
    assert b"y" not in pickle.dumps(Pair(1)).partition(b"Pair")[2]
    assert asdict(Own(1)) == {"x": 1}
    assert [each.name for each in fields(Far)] == ["name", "marks", "key", "note", "km"]
    assert not hasattr(one, "__dict__")


def test_values_go_by_name_from_one_record_to_another() -> None:
    """All of them, or those of a class that it extends; no value is copied."""
    one = Far("a", [1], km=2)
    assert values_of(one) == {"name": "a", "marks": [1], "key": "k", "note": "", "km": 2}
    assert Place(**values_of(one, Place)) == Place("a", [1])
    assert values_of(one)["marks"] is one.marks


@pytest.mark.parametrize(
    ("kind", "names", "row", "same"),
    [
        (Pair, ("x", "y"), (1, "a"), Pair(1, "a")),
        (Pair, ("y", "id", "x"), ("a", 7, 1), Pair(1, "a")),
        (Own, ("x",), (1,), Own(1)),
        (Own, ("id", "x"), (7, 1), Own(1)),
        (Named, ("x", "y", "z"), (1, "a", 4), Named(1, "a", z=4)),
        (Named, ("z", "id", "y", "x"), (4, 7, "a", 1), Named(1, "a", z=4)),
        (ByName, ("b", "a"), (2, 1), ByName(a=1, b=2)),
    ],
)
def test_a_row_becomes_a_record_by_the_names_of_its_columns(
    kind: type[object], names: tuple[str, ...], row: tuple[object, ...], same: object
) -> None:
    """In any order, among others, and where the class wants names."""
    assert record_maker(kind, names)(row) == same
    assert record_maker(kind, names)(list(row)) == same


def test_a_row_that_lacks_a_field_or_is_too_short_is_refused() -> None:
    """Also where the field has a default: a column is never forgotten in silence."""
    with pytest.raises(ValueError, match="not in"):
        record_maker(Pair, ("x",))
    with pytest.raises(TypeError):
        record_maker(Named, ("x", "y", "z"))((1, "a"))
    with pytest.raises(ValueError, match="a positive number"):
        record_maker(ByName, ("a", "b"))((0, 2))
