"""Backup, restore, migration and adoption, while a manager runs or none does.

Rows are left to `manager.operations`, files to `manager.store`.
"""
