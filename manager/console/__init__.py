"""Pages for people: what the administrator looks at for ten minutes in the morning.

Server-rendered; every page works without JavaScript, htmx only saves reloads. Thin: a page asks
operations, and shows what they answer. `access` is the one place that says who may what, `visit`
is one request by one person, `pages` hold a subject each.
Invariants: no text from outside reaches a page but escaped and with its hidden characters made
visible; nothing is loaded from elsewhere; no inline script or style; no change without a role, a
token of the session and the same origin.
"""

from manager.console.application import console
from manager.console.navigation import console_pages
from manager.console.requests.context import ConsoleServices

__all__ = ["ConsoleServices", "console", "console_pages"]
