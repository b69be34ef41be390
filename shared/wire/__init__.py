"""The language between manager and agents: the five messages of the source, and sync.

Bytes to dataclasses and back, no I/O. `server_list` and `orders` are M1 and M2, `crawl_log` is M3,
`sync` is M4 grown up; M4 and M5 have no body. `PROTOCOL` is raised with every change that an
older side could misunderstand.
"""

from typing import Final

PROTOCOL: Final = 1
