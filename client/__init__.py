"""`prs-get`: take captures from a PRSM centre, as a third party.

`cli` the commands; `server` calls with patience; `fetching` files by parallel parts that go on
where they stopped; `selecting` jobs; `unpacking` the source's layout on disk; `following` the
changes.
It shares with the centre what the archive's formats are, and nothing else.
"""
