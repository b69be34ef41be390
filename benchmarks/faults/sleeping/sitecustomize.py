"""Read by a Python whose clock libfaketime sets: its `time.sleep` goes by `select`.

Debian's libfaketime 0.9.10 with FAKETIME_DONT_FAKE_MONOTONIC answers EINVAL to `clock_nanosleep`
with an absolute time, by which Python sleeps since 3.11; no machine with a wrong clock does.
"""

from __future__ import annotations

import select
import time
from typing import SupportsIndex


def _sleep(seconds: float | SupportsIndex, /) -> None:
    select.select([], [], [], float(seconds))


time.sleep = _sleep
