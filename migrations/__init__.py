"""The steps from one schema of the manager's database to the next, run by Alembic.

A step never changes once it was released, and imports nothing of the manager: the tables that it
speaks of are those of its day.
"""
