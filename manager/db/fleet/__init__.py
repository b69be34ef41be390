"""Queries on agents, their summaries, and rules for all of them.

Who owns what is left to `manager.db.ownership`, keys and joining to `manager.db.identity`.
"""
