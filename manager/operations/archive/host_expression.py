"""The RE2 expression by which third parties select hosts."""

from __future__ import annotations

from typing import Any, Final

import re2

from shared.archive.sums import check_host_port
from shared.errors import FormatError
from shared.urls import name_and_port

__all__ = ["compile_host_expression"]

MOST_CHARACTERS: Final = 1_000
MEMORY_BYTES: Final = 8 * 1024**2


def compile_host_expression(host: str) -> Any:
    """Return an expression ready to match; raises FormatError where it is none, or too large."""
    if len(host) > MOST_CHARACTERS:
        raise FormatError("archive.long_host", length=len(host), limit=MOST_CHARACTERS)
    options = re2.Options()
    options.max_mem = MEMORY_BYTES
    options.log_errors = False
    try:
        return re2.compile(host or ".*", options)
    except re2.error as error:
        said = error.args[0].decode("utf-8", "replace") if error.args else "unknown"
        raise FormatError("archive.bad_expression", host=host[:100], why=said) from error


def matches_host(key: str, expression: Any) -> bool:
    """Return whether a host, given by its key, matches by name and port."""
    name = name_and_port(key)
    try:
        check_host_port(name)
    except FormatError:  # it could not be a folder's name
        return False
    return expression.fullmatch(name) is not None
