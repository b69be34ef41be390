"""Agents: contact, sync, server lists, rules for all, takeover of lost ones.

Answers what agents ask, keeps their state, gives units of lost agents to others and back.
Keys and joining are left to `identity`, doubts about claims to `measurement`.
"""
