"""Files in MMDB format are read as their specification says, or refused."""

from __future__ import annotations

import ipaddress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from manager.naming.country_file import country_of_record
from manager.naming.mmdb import AddressDatabase
from shared.errors import FormatError
from tests.manager.naming.mmdb_file import MARKER, mmdb_file

JP, US = {"country": {"iso_code": "JP"}}, {"country": {"iso_code": "US"}}
GOOD = mmdb_file({"192.0.2.0/24": JP, "2001:db8::/32": US})

networks = st.dictionaries(
    st.builds(
        lambda number, length: str(ipaddress.ip_network((number, length), strict=False)),
        st.integers(0, 2**32 - 1),
        st.integers(1, 32),
    ),
    st.sampled_from(("JP", "US", "DE")),
    max_size=8,
)


@given(networks, st.lists(st.integers(0, 2**32 - 1), max_size=9), st.sampled_from((24, 28, 32)),
       st.sampled_from((4, 6)))  # fmt: skip
@settings(max_examples=200)
def test_an_address_has_the_record_of_its_smallest_network(
    given: dict[str, str], numbers: list[int], bits: int, version: int
) -> None:
    """Whatever the size of a node, in files of either version."""
    by_size = dict(sorted(given.items(), key=lambda one: int(one[0].partition("/")[2])))
    found = AddressDatabase(mmdb_file(by_size, bits=bits, version=version))
    parsed = {ipaddress.ip_network(network): record for network, record in by_size.items()}
    edges = [int(one.network_address) for one in parsed]
    for number in (*numbers, *edges):
        address = ipaddress.ip_address(number)
        over = [network for network in parsed if address in network]
        expected = parsed[max(over, key=lambda one: one.prefixlen)] if over else None
        assert found.record_of(str(address)) == expected


def test_both_kinds_of_addresses_are_found() -> None:
    """And what is none has no record."""
    found = AddressDatabase(GOOD)
    assert (found.kind, found.built_s) == ("Test-Country", 1_700_000_000)
    assert found.record_of("192.0.2.9") == JP
    assert found.record_of("2001:db8::9") == US
    for other in ("198.51.100.1", "2001:db9::", "", "example.jp", "192.0.2.9/24"):
        assert found.record_of(other) is None
    assert AddressDatabase(mmdb_file({"192.0.2.0/24": JP}, version=4)).record_of("::1") is None


@pytest.mark.parametrize(
    ("record", "code"),
    [
        (JP, "JP"),
        ({"registered_country": {"iso_code": "DE"}}, "DE"),
        ({"country": "jp", "continent": "AS"}, "JP"),
        ({"country": "Japan", "country_code": "JP"}, "JP"),
        ({"country": {"iso_code": "ZZ"}}, ""),
        ({"country": {"iso_code": 7}}, ""),
        ({}, ""),
        (None, ""),
        ("JP", ""),
    ],
)
def test_countries_stand_where_the_usual_databases_have_them(record: object, code: str) -> None:
    """GeoLite2 and DB-IP, IPinfo before and now."""
    assert country_of_record(record) == code


def test_records_of_all_types_are_read() -> None:
    """Long texts, large numbers, lists."""
    record = {
        "a": "x" * 28, "b": "y" * 29, "c": "z" * 300, "d": 2**40, "e": True, "f": 1.5,
        "g": ["p", {"q": 0}], "h": "日本",
    }  # fmt: skip
    assert AddressDatabase(mmdb_file({"0.0.0.0/1": record})).record_of("1.2.3.4") == record


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"not a database",
        GOOD[:-200],
        GOOD[: GOOD.rindex(MARKER)],
        MARKER,
        MARKER + b"\xe1\x41a",
        MARKER + b"\x40",
        MARKER + b"\x20\x00",  # a pointer to itself
        GOOD.replace(b"ip_version", b"xp_version"),
    ],
)
def test_what_is_no_whole_file_is_refused(data: bytes) -> None:
    """As a download that broke off, or one that is being copied."""
    with pytest.raises(FormatError):
        AddressDatabase(data)


@given(st.integers(0, len(GOOD) - 1), st.integers(0, 255), st.integers(0, len(GOOD)))
@settings(max_examples=500)
def test_damage_is_an_error_and_no_crash(at: int, byte: int, length: int) -> None:
    """Also where pointers lead in circles."""
    data = bytearray(GOOD)
    data[at] = byte
    for one in (bytes(data), bytes(data[:length]), bytes(data[length:])):
        try:
            found = AddressDatabase(one)
            for address in ("192.0.2.9", "2001:db8::9", "255.255.255.255"):
                found.record_of(address)
        except FormatError:
            pass


def test_pointers_in_circles_end() -> None:
    """A map whose value is a pointer to the map."""
    data = bytearray(mmdb_file({"0.0.0.0/1": {"a": "bbbb"}}))
    at = data.index(b"\xe1\x41a")
    data[at + 3 : at + 5] = b"\x20\x00"
    with pytest.raises(FormatError, match="no readable MMDB file"):
        AddressDatabase(bytes(data)).record_of("1.2.3.4")
