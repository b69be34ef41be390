"""Files of the manager, Parquet and DuckDB: no other package opens them.

`layout` names the places, `spool` takes bodies in, `durable_files` writes a file whole or not at
all. `segments`, `captures` and `logs` hold one subject each; `upload_parts` keeps uploads of
hours, `release_bundles` the files of releases. Rows that name files are left to `manager.db`.
"""

from manager.store.errors import StoreError, StoreFullError
from manager.store.layout import Layout
from manager.store.list_files import ListFiles
from manager.store.logs.log_comparison import Comparison, Contradiction, compare_logs
from manager.store.logs.log_directories import read_directories
from manager.store.logs.log_files import LineBounds, LogFile, LogRow, read_sums
from manager.store.logs.log_merge import merge_logs
from manager.store.rejected_bodies import Rejected
from manager.store.release_bundles import Bundles
from manager.store.spool import SPILL, Spool, Spooled, SpoolWriter
from manager.store.upload_parts import PartBusyError, UploadPart, UploadParts

__all__ = [
    "SPILL",
    "Bundles",
    "Comparison",
    "Contradiction",
    "Layout",
    "LineBounds",
    "ListFiles",
    "LogFile",
    "LogRow",
    "PartBusyError",
    "Rejected",
    "Spool",
    "SpoolWriter",
    "Spooled",
    "StoreError",
    "StoreFullError",
    "UploadPart",
    "UploadParts",
    "compare_logs",
    "merge_logs",
    "read_directories",
    "read_sums",
]
