"""Addresses of hosts: look-ups and their cache.

How a name is looked up is left to `agent.adapters.dns`.
"""
