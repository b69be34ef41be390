"""Rounds: start, progress, end, reports, and the tick that drives them.

One round is probe, plan, crawl, report; the tick does whatever is due. Every step it takes is left
to the package of that step.
"""
