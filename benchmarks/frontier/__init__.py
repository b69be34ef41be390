"""Cost of a URL in the frontier, by the number of known URLs: `make bench-frontier`.

For each number of hosts one ledger grows from size to size. At each size a separate process
opens it, fills it up to the size, then lets URLs pass through the real dedup, frontier and ledger
(add_new, push, take, remove, with a commit for every 250), with answers made up on the spot. All
other modules that know of hosts (seed, filter, resolve) are there too, and names are looked up as
hosts have their turn. At the end it kills itself with SIGKILL in the middle of a transaction; how
long the next process needs until the ledger is open and the modules are built is the recovery time.

    stage.py     one process: open, fill, measure, die
    traffic.py   made-up answers, through the real modules
    peer.py      the same operations on plain SQLite tables, and the bare append as a limit
"""
