"""What agents send in: bodies taken from the connection, logs and discoveries made of them.

`receiving` spools a body; `discovered` enters M2; `logs` takes M3, which `parsing` reads in a
child process of `workers`, judged by `sections` and the holdings of `manager.assignment`;
`segments` takes what was collected.
"""

from manager.intake.discovered import enter_discovered
from manager.intake.logs import LogIntake, Receipt
from manager.intake.receiving import Receiving, SlowSenderError, receive
from manager.intake.segments import SegmentIntake
from manager.intake.workers import Workers

__all__ = [
    "LogIntake",
    "Receipt",
    "Receiving",
    "SegmentIntake",
    "SlowSenderError",
    "Workers",
    "enter_discovered",
    "receive",
]
