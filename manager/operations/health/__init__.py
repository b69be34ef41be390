"""Alerts, silences, consistency checks and system figures.

Finds what wants a person's attention, tells recipients once, and checks that the database is
consistent. The causes are left to the packages below.
"""
