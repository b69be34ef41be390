"""Capacity of one manager for ten thousand agents, and of two behind a proxy."""
