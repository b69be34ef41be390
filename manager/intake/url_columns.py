"""URLs by the thousand, in canonical form, with their hosts.

Nearly all URLs of a log are canonical already, which their bytes show; only the others are made so
one by one. Invariant: each is what `shared.urls.canonical` makes of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from manager.intake.byte_arrays import SHOWN, Indices, Mask, bytes_of, cut
from shared.errors import UrlError
from shared.frozen import frozen
from shared.urls import canonical, host_of

__all__ = ["canonical_urls"]

HOSTS_REMEMBERED: Final = 100_000

_UNRESERVED: Final = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~"
_STRANGE: Final = bytes(byte not in _UNRESERVED + b"%/?=&+,:;@!$()*" for byte in range(256))
_PERCENT: Final = np.array([byte not in _UNRESERVED for byte in range(256)])
"""Which bytes stay escaped in a URL."""

_HEX: Final = np.full(256, 16, np.int64)
_HEX[list(b"0123456789ABCDEF")] = range(16)


def canonical_urls(
    raw: pa.Array, known: dict[bytes, str | None]
) -> tuple[pa.Array, pa.Array, list[str], Indices] | None:
    """Return URLs in canonical form, their paths, the host keys among them, and each one's.

    None where one has no canonical form. known: host keys by what stands before a path, None where
    that is not canonical; the caller keeps it for the next ones.
    """
    data, bounds = bytes_of(raw)
    begins = _path_begins(data, bounds)
    odd = (begins < 0) | _strange(data, bounds)
    named = _cut_at(raw, bounds, np.where(odd, bounds[:-1], begins), known)
    odd |= np.array([host is None for host in named.hosts])[named.codes]
    if odd.any():
        fixed = _made_canonical(raw, odd)
        if fixed is None:
            return None
        raw = fixed
        data, bounds = bytes_of(raw)
        named = _cut_at(raw, bounds, _path_begins(data, bounds), known)
    hosts = [host for host in named.hosts if host is not None]
    if len(hosts) != len(named.hosts):
        return None
    return raw.cast(pa.string()), named.paths.cast(pa.string()), hosts, named.codes


@frozen
class _Cut:
    """URLs cut before their paths. hosts: of each authority, None where it is not canonical."""

    paths: pa.Array
    hosts: Sequence[str | None]
    codes: Indices


def _cut_at(
    raw: pa.Array, bounds: Indices, begins: Indices, known: dict[bytes, str | None]
) -> _Cut:
    both = np.column_stack((bounds[:-1], begins)).ravel()
    pieces = cut(np.append(both, bounds[-1]), raw.buffers()[2])
    size = len(pieces)
    named = pieces.take(pa.array(np.arange(0, size, 2))).dictionary_encode()
    names: list[bytes] = named.dictionary.to_pylist()
    hosts = [known.get(name, "") for name in names]
    for at in [at for at, host in enumerate(hosts) if host == ""]:
        if len(known) >= HOSTS_REMEMBERED:
            known.clear()
        hosts[at] = known[names[at]] = _host_of(names[at].decode("ascii"))
    paths = pieces.take(pa.array(np.arange(1, size, 2)))
    return _Cut(paths, hosts, named.indices.to_numpy().astype(np.int64))


def _host_of(authority: str) -> str | None:
    """Return the host key of what stands before a path, or None where it is not canonical."""
    try:
        made = canonical(authority + "/")
    except UrlError:
        return None
    return host_of(made) if made == authority + "/" else None


def _path_begins(data: npt.NDArray[np.uint8], bounds: Indices) -> Indices:
    """Return where the path of each URL begins; -1: it is no `http://` or `https://` with one."""
    begin, end = bounds[:-1], bounds[1:]
    behind = begin + np.where(data[begin + 4] == 115, 8, 7)
    good = np.ones(len(begin), np.bool_)
    for place, byte in enumerate(b"http"):
        good &= data[begin + place] == byte
    for place, byte in ((3, 58), (2, 47), (1, 47)):
        good &= data[behind - place] == byte
    slashes = np.append(np.flatnonzero(data[: bounds[-1]] == 47), bounds[-1])
    begins = slashes[np.minimum(np.searchsorted(slashes, behind), len(slashes) - 1)]
    good &= (begins < end) & (begins > behind)
    return np.where(good, begins, -1)


def _strange(data: npt.NDArray[np.uint8], bounds: Indices) -> Mask:
    """Tell which URLs have bytes, escapes, or segments that begin with a dot, that may change."""
    texts = data[: bounds[-1]]
    strange = np.frombuffer(bytearray(texts.tobytes().translate(_STRANGE)), np.bool_)
    strange[:-1] |= (texts[:-1] == 47) & (texts[1:] == 46)
    escapes = np.flatnonzero(texts == 37)
    if len(escapes):
        high, low = _HEX[data[escapes + 1]], _HEX[data[escapes + 2]]
        normal = (high < 16) & (low < 16) & _PERCENT[(high * 16 + low) % 256]
        strange[escapes[~normal]] = True
    odd = np.zeros(len(bounds) - 1, np.bool_)
    odd[np.searchsorted(bounds, np.flatnonzero(strange), "right") - 1] = True
    return odd


def _made_canonical(raw: pa.Array, odd: Mask) -> pa.Array | None:
    """Return the URLs, those that are marked in canonical form; None where one has none."""
    texts = raw.to_pylist()
    try:
        for at in np.flatnonzero(odd).tolist():
            text = texts[at].translate(SHOWN, b"\\").decode("ascii")
            texts[at] = canonical(text).encode("ascii")
    except UrlError:
        return None
    return pa.array(texts, pa.binary())
