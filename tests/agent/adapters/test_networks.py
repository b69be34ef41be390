"""Addresses that are nobody's business."""

from __future__ import annotations

import ipaddress
import json

import pytest

from agent.adapters.networks import AddressRules
from shared.errors import UrlError
from shared.urls import canonical, split_host
from tests.fixtures_dir import FIXTURES

TARGETS = FIXTURES / "ssrf-targets" / "targets.json"


def targets(kind: str) -> list[str]:
    if not TARGETS.exists():
        return []
    found = json.loads(TARGETS.read_text())[kind]
    return [form for forms in found.values() for form in forms] if kind == "host_forms" else found


@pytest.mark.parametrize("network", targets("networks_iana_special_purpose"))
def test_special_networks_are_refused(network: str) -> None:
    """First and last address of every range of the registries."""
    rules = AddressRules()
    parsed = ipaddress.ip_network(network)
    for address in (parsed[0], parsed[-1]):
        assert rules.refusal(str(address)) is not None


@pytest.mark.parametrize("host", targets("metadata_hosts"))
def test_metadata_services_are_refused(host: str) -> None:
    """Addresses at which clouds tell secrets; their names are the look-up's business."""
    if host[0].isdigit() or ":" in host:
        assert AddressRules().refusal(host) is not None


@pytest.mark.parametrize("form", targets("host_forms"))
def test_no_spelling_of_an_address_gets_through(form: str) -> None:
    """A host in a URL is refused as a URL, as an address, or is a name that must be looked up."""
    try:
        _, name, _ = split_host(canonical(f"http://{form}/"))
    except UrlError:
        return
    try:
        ipaddress.ip_address(name.strip("[]"))
    except ValueError:
        assert name.endswith(".nip.io")
    else:
        assert AddressRules().refusal(name.strip("[]")) is not None


@pytest.mark.parametrize(
    "address", ["1.1.1.1", "133.9.1.1", "172.32.0.1", "2400::1", "2606:4700::1", "100.128.0.1"]
)
def test_public_addresses_are_not_refused(address: str) -> None:
    """Neighbours of special ranges are public."""
    assert AddressRules().refusal(address) is None


def test_an_allowed_range_holds_for_itself_only() -> None:
    """Loopback may be allowed for a simulated web; its wrappings stay refused."""
    rules = AddressRules(["127.0.0.0/8"])
    assert rules.refusal("127.1.2.3") is None
    for address in ("10.0.0.1", "::ffff:127.0.0.1", "2002:7f00:1::", "::1"):
        assert rules.refusal(address) is not None


def test_what_is_no_address_is_an_error() -> None:
    """Neither as a rule nor as a question."""
    with pytest.raises(ValueError, match="ten"):
        AddressRules(["ten"])
    with pytest.raises(ValueError, match="ten"):
        AddressRules().refusal("ten")
