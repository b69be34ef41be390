"""Sizes and times that defaults and limits of settings are written in."""

from __future__ import annotations

from typing import Final

__all__ = ["DAY_S", "GB", "HOUR_S", "KB", "KIB", "MB"]

KIB: Final = 1024
KB, MB, GB = 1000, 1000**2, 1000**3
HOUR_S, DAY_S = 3600, 86400
