"""JSON messages, forms and lists that are checked before the server reads them.

Large ones are read in worker processes (`manager.intake.workers`).
"""
