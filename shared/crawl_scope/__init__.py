"""Scope of the whole crawl: an ordered list of rules, the same at the manager and at agents.

`rules` reads a list as people write it; `evaluation` decides about URLs and units by it.
"""
