"""Users, sessions, passwords, API tokens, third parties, and the audit log.

Every action of a person begins here: their identity, the rights of their role, and the audit row.
The identity of agents and of the installation is left to `identity`.
"""
