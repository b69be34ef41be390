"""Console pages of alerts and the overview.

Their routes are in `manager.console.routes`; what they show and do is left to
`manager.operations`.
"""
