"""Console pages of releases and rollouts.

Their routes are in `manager.console.routes`; what they show and do is left to
`manager.operations`.
"""
