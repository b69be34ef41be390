"""Owners of units, and their rights to fetch.

Pins, reassignment, permits and grants: one owner a unit, one agent an address. Which owner would
be best is left to `planning`, when rights are given to the tick in `rounds`.
"""
