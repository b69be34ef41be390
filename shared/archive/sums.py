"""The folder of a host: `html/[sumh]/[suml]/[host:port]/`.

Source: seed 004, section 5.4.1, `createDataDirectory`: over `server:port`, `sum = sum*13 + char`
in a Java int, then `Integer.toString(sum & 0xff00, 16)` and `Integer.toString(sum & 0x00ff, 16)`:
lower case, no padding, no shift. The masks keep the low 16 bits, so the overflow of the int
cannot change a name, and neither can its sign.

Invariant: `host_folder` gives a path only for a checked name, so no host can name a path outside
`html/`.
"""

from __future__ import annotations

import ipaddress
import re
from pathlib import PurePosixPath
from typing import Final

from shared.errors import FormatError

__all__ = ["MAX_FOLDER_NAME", "check_host_port", "host_folder", "host_sums"]

MAX_FOLDER_NAME: Final = 251
"""File systems allow 255 bytes for a name, and `.zip` comes behind this one."""

_HOST_PORT: Final = re.compile(
    r"(?P<name>[a-z0-9_-]{1,63}(?:\.[a-z0-9_-]{1,63})*|\[(?P<ipv6>[0-9a-f:.]{2,45})\])"
    r":(?P<port>[1-9][0-9]{0,4})"
)


def host_sums(host_port: str) -> tuple[str, str]:
    """Return (sumh, suml) of `host:port`: `www.etl.go.jp:80` gives `("6700", "9e")`."""
    total = 0
    for char in host_port:
        total = (total * 13 + ord(char)) & 0xFFFF
    return f"{total & 0xFF00:x}", f"{total & 0x00FF:x}"


def host_folder(host_port: str) -> PurePosixPath:
    """Return `html/sumh/suml/host:port`; raises FormatError for a name that is no host."""
    check_host_port(host_port)
    return PurePosixPath("html", *host_sums(host_port), host_port)


def check_host_port(host_port: str) -> str:
    """Return the name; raises FormatError where it is no canonical host with a port.

    The name becomes a folder, so more is refused than DNS refuses: capitals, empty labels,
    and whatever is not a letter, digit, hyphen, underscore or an IPv6 address in brackets.
    """
    shown = host_port[:100]
    match = _HOST_PORT.fullmatch(host_port)
    if match is None:
        raise FormatError("archive_files.host_form", host=shown)
    if int(match["port"]) > 65535:
        raise FormatError("archive_files.host_port", host=shown, port=match["port"])
    if match["ipv6"] is not None:
        try:
            ipaddress.IPv6Address(match["ipv6"])
        except ValueError as error:
            raise FormatError("archive_files.host_ipv6", host=shown) from error
    if len(host_port) > MAX_FOLDER_NAME:
        raise FormatError(
            "archive_files.host_long", host=shown, length=len(host_port), most=MAX_FOLDER_NAME
        )
    return host_port
