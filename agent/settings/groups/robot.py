"""Settings of the agent: how it presents itself."""

from __future__ import annotations

from shared.frozen import frozen
from shared.settings import setting

__all__ = ["RobotSettings"]


@frozen
class RobotSettings:
    """Identity of the robot, as it shows itself to sites."""

    product_token: str = setting(
        "PRS", "name", "name of this robot in a robots.txt and in its User-Agent; letters, _ and -"
    )
    info_url: str = setting(
        "",
        "URL",
        "page that explains the crawl to owners of sites, in the User-Agent of each request; "
        "empty: none",
    )
    contact: str = setting(
        "",
        "mail address",
        "mail address that the owner of a site can write to, sent with each request; must be set",
    )
