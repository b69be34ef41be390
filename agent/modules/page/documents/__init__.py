"""Links of documents that are no HTML pages: feeds, sitemaps, PDF, Office, DASH, XML.

Which reader a body gets is decided by `agent.modules.page.body_kinds`.
"""
