"""The link to the manager: conversation (`poller`), HTTP (`client`), storage (`outbox`, `keys`).

`poller` decides without I/O, `client` is the only way to the network, `outbox` and
`report_delivery` ensure that no report is lost, `manager_list` keeps M1, `link_memory` the numbers
that must not be forgotten.
"""

import sys

# Where rich and click are installed, httpx brings its command line along: half of its import. So it
# finds what it finds where they are not.
sys.modules.setdefault("httpx._main", None)  # type: ignore[arg-type]
