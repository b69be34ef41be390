"""The way to the manager: what is said (`poller`), carried (`client`) and kept (`outbox`, `keys`).

`poller` decides without I/O, `client` is the one door to the network, `outbox` and `sending` see to
it that no report is lost, `manager_list` keeps M1, `memory` the numbers that must not be forgotten.
"""

import sys

# Where rich and click are installed, httpx brings its command line along: half of its import. So it
# finds what it finds where they are not.
sys.modules.setdefault("httpx._main", None)  # type: ignore[arg-type]
