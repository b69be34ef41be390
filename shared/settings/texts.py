"""Texts that are settings and have a certain form. All raise SettingError with the remedy."""

from __future__ import annotations

import ipaddress

from shared.errors import SettingError

__all__ = ["check_network", "name_server"]

DNS_PORT = "53"


def name_server(text: str, name: str) -> tuple[str, int]:
    """Return (address, port) of a name server; name: the setting that it stands in."""
    host, colon, port = text.rpartition(":")
    bare = not colon or text.endswith("]") or (":" in host and not host.startswith("["))
    if bare:
        host, port = text, DNS_PORT
    try:
        address = str(ipaddress.ip_address(host.strip("[]")))
        good = port.isascii() and port.isdigit() and 0 < int(port) < 65536
    except ValueError:
        good = False
    if not good:
        raise SettingError("settings_errors.name_server", name=name, value=text)
    return address, int(port)


def check_network(text: str, name: str) -> None:
    """Refuse a text that is no range of addresses; name: the setting that it stands in."""
    try:
        ipaddress.ip_network(text)
    except ValueError as error:
        raise SettingError(
            "settings_errors.network", name=name, value=text, reason=str(error)
        ) from error
