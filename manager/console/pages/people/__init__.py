"""Console pages of users, sessions, tokens and the audit log.

Their routes are in `manager.console.routes`; what they show and do is left to
`manager.operations`.
"""
