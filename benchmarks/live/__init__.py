"""A random round and a balanced one, crawled for real from eight regions, and their clocks."""
