"""The site: its hours and limits in words, and what `prs doctor` gathers.

Verdicts are left to `agent.control.doctor`.
"""
