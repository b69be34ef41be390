"""Servers of the simulated web: listeners, HTTP/1.1, DNS, pace, control port.

What a site answers is decided by `simweb.sites`.
"""
