"""The server list (M1) as jobs: units, start pages, changes of the list.

Whose turn it is is left to `agent.modules.frontier`.
"""
