"""Makes the archive that a site installs from: see `docs/adr/0116`.

`chosen` says which lines of the lock an agent needs, `fetched` brings their wheels for each Python
and machine, `archive` lays it out; `install` and `install.py` lie in it run at the site.
"""
