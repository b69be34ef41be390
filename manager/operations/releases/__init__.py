"""Signed releases of the agent, and their rollout ring by ring.

Publishes and revokes releases, offers them to agents, records what sites report of updates.
Signatures are left to `manager.signing`, the update itself to the launcher.
"""
