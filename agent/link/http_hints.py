"""Operator hints by HTTP status: one clause for each that needs a person."""

from __future__ import annotations

from typing import Final

from agent.link.errors import LinkError, RefusedError

__all__ = ["remedy"]

_REMEDIES: Final = {
    401: "this agent's key is unknown there: ask the administrator for a join token and run "
    "`prs enrol`",
    403: "the administrator has blocked this agent, or its name belongs to another key",
    404: "is manager.url right, and does the proxy let it through?",
    409: "does another machine work with a copy of this home? Stop one of them; a copy needs an "
    "enrolment of its own",
    413: "it is sent in smaller parts",
    426: "install the current version of the agent; what is collected is still accepted",
}


def remedy(error: LinkError) -> str:
    """Return `; what to do`, or nothing where waiting is all."""
    text = _REMEDIES.get(error.status) if isinstance(error, RefusedError) else None
    return f"; {text}" if text else ""
