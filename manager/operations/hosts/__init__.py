"""Hosts and their units: import, addresses, discoveries, splits and bans.

A host enters, is resolved, joins an address group, may be split, excluded or banned from agents.
Owners are left to `ownership`, distances to `measurement`.
"""
