"""`prs-get`: a third party takes captures from a PRSM manager.

    cli         the commands, what they print, exit codes
    run         a whole run: many files at a time (`crew`) into one folder
    downloads   one file: resumed at its byte, verified, renamed into place
    server      the only access to the network
    folder      the only access to the disk: lock, parts, existing files
    file_list, names, ranges, retry, login      pure, or nearly so: answers, names and notes

Invariant: a file under its final name is whole and verified; no byte from the server decides where
a file is placed without `names`; only the server of the login receives the token.
"""

import sys

# Where rich is installed too, httpx brings its own command line along: half of its import. So it
# finds what it finds where that is not.
sys.modules.setdefault("httpx._main", None)  # type: ignore[arg-type]
