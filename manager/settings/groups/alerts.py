"""The settings of alerts: recipients, and the thresholds of an alert."""

from __future__ import annotations

from shared.frozen import frozen
from shared.settings import Range, setting

__all__ = ["AlertSettings"]

GB = 1000**3
HOUR_S, DAY_S = 3600, 86400


@frozen
class AlertSettings:
    """Recipients of alerts, and the thresholds of an alert; 0: no such alert."""

    mail_to: tuple[str, ...] = setting(
        (), "addresses", "mail addresses to which alerts are sent; empty: no mail is sent"
    )
    mail_from: str = setting(
        "prsm@localhost", "address", "address from which the mails with alerts come"
    )
    smtp_host: str = setting(
        "127.0.0.1", "host", "mail server that sends the alerts; by default one on this machine"
    )
    smtp_port: int = setting(
        25, Range("port", 1, 65535), "port of the mail server; mostly 587 where it asks for a login"
    )
    smtp_tls: bool = setting(
        False,
        "yes/no",
        "whether mail goes to the mail server encrypted (STARTTLS); not needed on loopback",
    )
    smtp_user: str = setting("", "name", "user name at the mail server; empty: no login")
    smtp_password: str = setting(
        "", "text", "password at the mail server; keep prsm.toml readable by you only", secret=True
    )
    webhook_url: str = setting(
        "", "URL", "address to which alerts are posted as JSON; empty: none", secret=True
    )
    webhook_secret: str = setting(
        "",
        "text",
        "secret with which what is posted to the webhook is signed (HMAC-SHA256); empty: it is not "
        "signed",
        secret=True,
    )
    language: str = setting(
        "en", "language", "language of the mails and webhook messages with alerts: en or ja"
    )
    check_interval_s: float = setting(
        60.0, Range("s", 1, DAY_S), "how often the manager looks for problems to report"
    )
    repeat_interval_s: float = setting(
        6.0 * HOUR_S,
        Range("s", 0, 30 * DAY_S),
        "how often a problem that lasts is reported again; 0: never",
    )
    agent_late_s: float = setting(
        600.0,
        Range("s", 0, 30 * DAY_S),
        "how late an agent may be with its call before an alert; 0: no alert",
    )
    agent_problem_s: float = setting(
        6.0 * HOUR_S,
        Range("s", 0, 30 * DAY_S),
        "how long an agent may fetch nothing, or have a problem with its disk, clock or reports, "
        "before an alert; 0: no alert",
    )
    min_reachable_share: float = setting(
        0.5,
        Range("share", 0, 1),
        "what share of its hosts the manager or an agent must resolve, and an agent reach; fewer "
        "are an alert, for its name servers or network are at fault then, not the hosts; 0: no "
        "alert",
    )
    manager_silence_s: float = setting(
        600.0,
        Range("s", 0, 30 * DAY_S),
        "how long another manager may give no sign of life before an alert; 0: no alert",
    )
    database_outage_s: float = setting(
        120.0,
        Range("s", 0, DAY_S),
        "how long the database may not answer before each manager alerts by itself; 0: no alert",
    )
    moves_per_day: int = setting(
        100_000,
        Range("units", 0, 10**9),
        "how many units may change hands in a day before an alert; some do as agents come and go; "
        "0: no alert",
    )
    disk_bytes: int = setting(
        5 * GB,
        Range("bytes", 0, 1000 * GB),
        "an alert is sent when the manager's disk has less than this left; 0: no alert",
    )
    disk_inodes: int = setting(
        10_000,
        Range("files", 0, 10**9),
        "an alert is sent when the manager's disk has fewer free inodes than this; 0: no alert "
        "before none is left",
    )
    expiry_days: float = setting(
        21.0,
        Range("days", 0, 400),
        "how many days before the end of a certificate or of a release's signature an alert is "
        "sent; 0: no alert",
    )
    round_days: float = setting(
        14.0,
        Range("days", 0, 3650),
        "how many days may pass without a new round before an alert; 0: no alert",
    )
    round_late_share: float = setting(
        0.2,
        Range("share", 0, 100),
        "by what share of its predicted length a round may be late before an alert, and at least "
        "ten minutes; 0: no alert",
    )
    backup_days: float = setting(
        3.0,
        Range("days", 0, 3650),
        "how many days may pass without a backup before an alert; 0: no alert, as where backups "
        "are made otherwise",
    )
