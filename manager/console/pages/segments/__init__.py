"""Console pages of segments, their collection and the trash.

Their routes are in `manager.console.routes`; what they show and do is left to
`manager.operations`.
"""
