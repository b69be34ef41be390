"""Addresses of hosts: look-ups, their cache, and outages of the resolver.

How a name is looked up is left to `agent.adapters.dns`.
"""
