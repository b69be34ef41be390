"""Only public addresses may be crawled, unless the operator says otherwise."""

from __future__ import annotations

import ipaddress
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.naming import AddressRules
from shared.urls import canonical, split_host
from tests.fixtures_dir import fixture_folder


@pytest.fixture(scope="module")
def targets() -> dict[str, Any]:
    """Return the forbidden networks and spellings that others collected."""
    return dict(json.loads((fixture_folder("ssrf-targets") / "targets.json").read_text()))


def test_every_special_network_is_refused(targets: dict[str, Any]) -> None:
    """First, middle and last address of each special-purpose network are refused."""
    rules = AddressRules()
    for text in targets["networks_iana_special_purpose"]:
        network = ipaddress.ip_network(text)
        for offset in (0, network.num_addresses // 2, network.num_addresses - 1):
            address = str(network[offset])
            assert rules.refusal(address), f"{address} of {network}"


def test_metadata_addresses_are_refused(targets: dict[str, Any]) -> None:
    """Where clouds keep their secrets no robot goes."""
    for text in targets["metadata_hosts"]:
        if not text[0].isalpha() or ":" in text:
            assert AddressRules().refusal(text), text


def test_every_spelling_of_a_forbidden_address_is_refused(targets: dict[str, Any]) -> None:
    """However an address is written in a URL, it is recognised, or is no URL, or is a name."""
    seen = 0
    for spellings in targets["host_forms"].values():
        for text in spellings:
            _, name, _ = split_host(canonical(f"http://{text}/"))
            if name.endswith(".nip.io"):
                continue  # a name: judged by what it resolves to
            assert AddressRules().refusal(name.strip("[]")), text
            seen += 1
    assert seen >= 60


@pytest.mark.parametrize(
    "address",
    [
        *("8.8.8.8", "133.9.1.1", "2001:4860:4860::8888", "2400::1", "2606:4700::1"),
        *("172.32.0.1", "100.128.0.1"),
    ],
)
def test_public_addresses_are_allowed(address: str) -> None:
    """An ordinary public address is crawled, also a neighbour of a special range."""
    assert AddressRules().refusal(address) is None


def test_the_operator_allows_networks() -> None:
    """An allowed range opens itself and nothing that merely leads to it."""
    rules = AddressRules(["127.0.0.0/8"])
    assert rules.refusal("127.8.9.1") is None
    for address in ("10.0.0.1", "::1", "::ffff:127.0.0.1", "2002:7f00:1::"):
        assert rules.refusal(address), address


@given(st.ip_addresses())
def test_what_python_calls_private_is_refused(
    address: ipaddress.IPv4Address | ipaddress.IPv6Address,
) -> None:
    """No address that the standard library holds for not global is ever allowed."""
    if not address.is_global or address.is_multicast:
        assert AddressRules().refusal(str(address))


def test_what_is_no_address_is_an_error() -> None:
    """Neither as a rule nor as a question: such a text is never judged to be fine."""
    with pytest.raises(ValueError, match="ten"):
        AddressRules(["ten"])
    with pytest.raises(ValueError, match="example"):
        AddressRules().refusal("example.jp")
