"""The crawl as a pipeline: graph of modules, messages, and ports to the world.

crawl.py        the graph: modules, their typed inputs and outputs, connections
messages/       messages, and the life of a URL
ports/          access to network, disk and clock
spec.py         specification and validation of graphs
handler.py      handlers of modules, with typed inputs
scope.py        the agent's units and jobs
"""
