"""The only door to the manager's files, to Parquet and to DuckDB.

`layout` says where things lie; `spool` takes bodies in; `log_files`, `list_files` and `rejected`
keep what became of them; `upload_parts` takes in what comes over hours; `bundles` keeps files of
releases; `durable` is how a file comes to be there whole or not at all.
"""

from manager.store.bundles import Bundles
from manager.store.errors import StoreError, StoreFullError
from manager.store.layout import Layout
from manager.store.list_files import ListFiles
from manager.store.log_compare import Comparison, Contradiction, compare_logs
from manager.store.log_directories import LogDirectory, read_directories
from manager.store.log_files import LineBounds, LogFile, LogRow, LogSum, read_sums
from manager.store.log_merge import merge_logs
from manager.store.rejected import Rejected
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
    "LogDirectory",
    "LogFile",
    "LogRow",
    "LogSum",
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
