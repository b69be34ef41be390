"""Users, sessions, passwords, API tokens, third parties, and the audit log.

Every action of a person begins here: who they are, what their role allows, what was written down.
The identity of agents and of the installation is left to `identity`.
"""
