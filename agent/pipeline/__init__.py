"""The crawl as a pipeline: graph of modules, messages, and ports to the world.

crawl.py        the graph: modules, their typed inputs and outputs, connections
messages/       messages, and the life of a URL
ports.py        access to network, disk and clock
ledger.py       access to the durable state of the crawl, and its rows
spec.py         specification and validation of graphs
handler.py      handlers of modules, with typed inputs
"""
