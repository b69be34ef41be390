"""Settings of the manager: releases of agents."""

from __future__ import annotations

from shared.frozen import frozen
from shared.settings import Range, setting

__all__ = ["ReleaseSettings"]

KB, MB, GB = 1000, 1000**2, 1000**3


@frozen
class ReleaseSettings:
    """Releases of the agent."""

    signer: str = setting(
        "/run/prsm-signer/sign.sock",
        "path",
        "the socket of the signing process, which alone can read its keys",
    )
    bundle_bytes: int = setting(
        2 * GB,
        Range("bytes", KB, 100 * GB),
        "largest file of a release that is taken; wheels for six platforms are 500 MB",
    )
