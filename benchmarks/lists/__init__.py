"""Pause of an agent's loop while it takes a list."""
