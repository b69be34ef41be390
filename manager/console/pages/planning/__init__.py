"""Console pages of plans and probes.

Their routes are in `manager.console.routes`; what they show and do is left to
`manager.operations`.
"""
