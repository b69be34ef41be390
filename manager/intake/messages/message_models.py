"""Large messages: the models of JSON that may be longer than some fields.

They are here, and not beside their routes, because a worker process imports them to check one, and
must not import a web framework for that. A model of another module is for a message of at most
`messages.FEW_FIELDS_BYTES`.
"""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, Field

__all__ = [
    "AgentName",
    "FirstMetadata",
    "LargeMessage",
    "NewLines",
    "NewPins",
    "NextSigned",
    "NextTargets",
    "Reason",
    "Unpin",
    "Url",
]

Url = Annotated[str, Field(max_length=2083)]
AgentName = Annotated[str, Field(max_length=253)]
Reason = Annotated[str, Field(max_length=500)]
Metadata = Annotated[str, Field(max_length=500_000)]


class LargeMessage(BaseModel):
    """A message that `limits.request_bytes` bounds."""


class NewPins(LargeMessage):
    """Hosts and directories, and the agent that is to own them all."""

    units: Annotated[list[Url], Field(min_length=1, max_length=10_000)]
    agent: AgentName
    reason: Reason = ""


class Unpin(LargeMessage):
    """Units that plans may move again."""

    units: Annotated[list[Url], Field(min_length=1, max_length=10_000)]
    reason: Reason = ""


class NewLines(LargeMessage):
    """Lines for the block list, one an RE2 expression that is looked for in whole URLs."""

    text: Annotated[str, Field(max_length=100_000)]
    reason: Reason = ""


class FirstMetadata(LargeMessage):
    """The first root, and targets without a release, both signed."""

    root: Metadata
    targets: Metadata


class NextSigned(LargeMessage):
    """The next root, signed by enough keys of the last root and of itself; targets; or both."""

    root: Metadata | None = None
    targets: Metadata | None = None


class NextTargets(LargeMessage):
    """The next targets, signed by the targets keys."""

    targets: Metadata
