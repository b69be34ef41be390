"""Uploads of segments: tus without HTTP, bodies, turns, pulls, acceptance.

HTTP is left to `manager.agent_api`, the rows to `manager.operations.segments`.
"""
