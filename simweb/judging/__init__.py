"""Judgement of a crawl from the servers' logs: politeness, obedience, completeness.

What a complete crawl gets is left to `simweb.sites.expectation`.
"""
