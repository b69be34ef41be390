"""The exact seen-sets: keys of known URLs, the newest in memory, the others in sorted runs on disk.

seen_set.py     `SeenSet`: which URLs of a job are new
recent_keys.py  keys that no run has yet
runs.py         runs, and the search for a key in them
run_writer.py   writes and merges runs
"""
