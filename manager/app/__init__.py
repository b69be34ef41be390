"""Composition of the manager, and the process that serves it.

`composition` puts it together, `manager_run` runs it; `web`, `maintenance` and `alerts` hold one
subject each. Nothing else imports from here but `manager.cli`.
"""
