"""Console pages of the archive and third parties.

Their routes are in `manager.console.routes`; what they show and do is left to
`manager.operations`.
"""
