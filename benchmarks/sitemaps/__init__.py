"""Readers of sitemaps and feeds compared."""
