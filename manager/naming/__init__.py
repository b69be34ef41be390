"""From host names to addresses, before anybody is sent there: batches of look-ups for the clock."""

from manager.naming.look_up import Names, look_up_all, resolve_due

__all__ = ["Names", "look_up_all", "resolve_due"]
