"""The settings of alerts: who is told, and from when on something is a trouble."""

from __future__ import annotations

from shared.frozen import frozen
from shared.settings import setting

__all__ = ["AlertSettings"]

GB = 1000**3
HOUR_S, DAY_S = 3600, 86400


@frozen
class AlertSettings:
    """Who is told of troubles, and from when on something is one; 0: never."""

    mail_to: tuple[str, ...] = setting((), unit="addresses", reason="empty: no mail is sent")
    mail_from: str = setting("prsm@localhost", unit="address", reason="of whom the mail is")
    smtp_host: str = setting("127.0.0.1", unit="host", reason="a mail server of this machine")
    smtp_port: int = setting(25, unit="port", least=1, most=65535, reason="587 with a login")
    smtp_tls: bool = setting(False, unit="yes/no", reason="STARTTLS; not needed on loopback")
    smtp_user: str = setting("", unit="name", reason="empty: no login")
    smtp_password: str = setting(
        "", unit="text", reason="keep prsm.toml readable by you only", secret=True
    )
    webhook_url: str = setting("", unit="URL", reason="is posted JSON; empty: none", secret=True)
    webhook_secret: str = setting(
        "", unit="text", reason="signs what is posted (HMAC-SHA256)", secret=True
    )
    look_s: float = setting(60.0, unit="s", least=1, most=DAY_S, reason="between two looks")
    resend_s: float = setting(
        6.0 * HOUR_S, unit="s", least=0, most=30 * DAY_S, reason="what goes on is told again"
    )
    late_s: float = setting(
        600.0, unit="s", least=0, most=30 * DAY_S, reason="an agent that did not call as promised"
    )
    agent_s: float = setting(
        6.0 * HOUR_S,
        unit="s",
        least=0,
        most=30 * DAY_S,
        reason="an agent that fetches nothing, or whose disk, clock or reports are amiss",
    )
    manager_s: float = setting(
        600.0,
        unit="s",
        least=0,
        most=30 * DAY_S,
        reason="another manager that gives no sign of life: one is left, or none",
    )
    database_s: float = setting(
        120.0,
        unit="s",
        least=0,
        most=DAY_S,
        reason="the database does not answer: each manager tells it by itself",
    )
    moves_a_day: int = setting(
        100_000, unit="units", least=0, most=10**9, reason="changed hands: agents come and go"
    )
    disk_bytes: int = setting(
        5 * GB, unit="bytes", least=0, most=1000 * GB, reason="of the centre's disk left"
    )
    expiry_days: float = setting(
        21.0, unit="days", least=0, most=400, reason="before a certificate ends"
    )
    round_days: float = setting(14.0, unit="days", least=0, most=3650, reason="without a new round")
    backup_days: float = setting(3.0, unit="days", least=0, most=3650, reason="without a backup")
