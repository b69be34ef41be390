"""The robot's name for others: its version, and the User-Agent of its requests."""

from __future__ import annotations

from functools import cache
from importlib import metadata

from agent.settings.groups import Settings

__all__ = ["user_agent", "version"]


@cache  # it stands in a file of the installation, which is read as a mail is
def version() -> str:
    """Return this program's version."""
    return metadata.version("prsm")


def user_agent(settings: Settings) -> str:
    """Return how the robot presents itself: token, version, a page about it, a mail address."""
    robot = settings.robot
    about = "; ".join(filter(None, (f"+{robot.info_url}" if robot.info_url else "", robot.contact)))
    return f"{robot.product_token}/{version()} ({about})"
