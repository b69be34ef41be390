"""Sites of the simulated web: their pages, sizes, links, troubles and traps, by a seed.

All is arithmetic on keys, so nothing is stored; serving is left to `simweb.servers`.
"""
