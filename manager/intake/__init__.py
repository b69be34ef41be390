"""What agents send in: bodies taken from the connection, logs and discoveries made of them."""

from manager.intake.receiving import Receiving, SlowSenderError, receive

__all__ = ["Receiving", "SlowSenderError", "receive"]
