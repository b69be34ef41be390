"""Splits of hosts among agents: pieces by directories, proposals, and their application."""

from __future__ import annotations
