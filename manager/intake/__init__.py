"""What agents send in: bodies taken from the connection, logs and discoveries made of them.

`receiving` spools a body; `discovered` enters M2; `logs` takes M3, which `parsing` reads in a
child process of `workers`, judged by `sections` and the holdings of `manager.assignment`;
`uploads` takes segments, piece by piece, and `segments` those that came whole.
"""

from manager.intake.discovered import enter_discovered
from manager.intake.logs import LogIntake, Receipt
from manager.intake.receiving import Receiving, SlowSenderError, receive
from manager.intake.segments import SegmentIntake
from manager.intake.upload_errors import ChecksumError, OffsetError, TakenOverError
from manager.intake.uploads import UploadDesk
from manager.intake.workers import Limits, Workers
from manager.operations.uploads import NewUpload

__all__ = [
    "ChecksumError",
    "Limits",
    "LogIntake",
    "NewUpload",
    "OffsetError",
    "Receipt",
    "Receiving",
    "SegmentIntake",
    "SlowSenderError",
    "TakenOverError",
    "UploadDesk",
    "Workers",
    "enter_discovered",
    "receive",
]
