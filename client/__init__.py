"""`prs-get`: a third party takes captures from a PRSM manager.

    cli         the commands, what they print, exit codes
    getting     many files at a time into one folder
    downloads   one file: resumed at its byte, verified, renamed into place
    server      the one door to the network
    folder      the one door to the disk: lock, parts, what is there already
    listing, names, ranges, retrying, login     pure, or nearly so: what is said and kept

Invariant: a file under its final name is whole and verified; no byte from the server decides where
a file lies without `names`; the token goes to the server of the login and to nobody else.
"""

import sys

# Where rich is installed too, httpx brings its own command line along: half of its import. So it
# finds what it finds where that is not.
sys.modules.setdefault("httpx._main", None)  # type: ignore[arg-type]
