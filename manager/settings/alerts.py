"""The settings of alerts: recipients, and the thresholds of an alert."""

from __future__ import annotations

from shared.frozen import frozen
from shared.settings import setting

__all__ = ["AlertSettings"]

GB = 1000**3
HOUR_S, DAY_S = 3600, 86400


@frozen
class AlertSettings:
    """Recipients of alerts, and the thresholds of an alert; 0: no such alert."""

    mail_to: tuple[str, ...] = setting(
        (),
        unit="addresses",
        reason="mail addresses to which alerts are sent; empty: no mail is sent",
    )
    mail_from: str = setting(
        "prsm@localhost", unit="address", reason="address from which the mails with alerts come"
    )
    smtp_host: str = setting(
        "127.0.0.1",
        unit="host",
        reason="mail server that sends the alerts; by default one on this machine",
    )
    smtp_port: int = setting(
        25,
        unit="port",
        least=1,
        most=65535,
        reason="port of the mail server; mostly 587 where it asks for a login",
    )
    smtp_tls: bool = setting(
        False,
        unit="yes/no",
        reason="whether mail goes to the mail server encrypted (STARTTLS); not needed on loopback",
    )
    smtp_user: str = setting(
        "", unit="name", reason="user name at the mail server; empty: no login"
    )
    smtp_password: str = setting(
        "",
        unit="text",
        reason="password at the mail server; keep prsm.toml readable by you only",
        secret=True,
    )
    webhook_url: str = setting(
        "",
        unit="URL",
        reason="address to which alerts are posted as JSON; empty: none",
        secret=True,
    )
    webhook_secret: str = setting(
        "",
        unit="text",
        reason="secret with which what is posted to the webhook is signed (HMAC-SHA256); empty: "
        "it is not signed",
        secret=True,
    )
    language: str = setting(
        "en",
        unit="language",
        reason="language of the mails and webhook messages with alerts: en or ja",
    )
    check_interval_s: float = setting(
        60.0,
        unit="s",
        least=1,
        most=DAY_S,
        reason="how often the manager looks for problems to report",
    )
    repeat_interval_s: float = setting(
        6.0 * HOUR_S,
        unit="s",
        least=0,
        most=30 * DAY_S,
        reason="how often a problem that lasts is reported again; 0: never",
    )
    agent_late_s: float = setting(
        600.0,
        unit="s",
        least=0,
        most=30 * DAY_S,
        reason="how late an agent may be with its call before an alert; 0: no alert",
    )
    agent_problem_s: float = setting(
        6.0 * HOUR_S,
        unit="s",
        least=0,
        most=30 * DAY_S,
        reason="how long an agent may fetch nothing, or have a problem with its disk, clock or "
        "reports, before an alert; 0: no alert",
    )
    min_reachable_share: float = setting(
        0.5,
        unit="share",
        least=0,
        most=1,
        reason="what share of its hosts the manager or an agent must resolve, and an agent reach; "
        "fewer are an alert, for its name servers or network are at fault then, not the hosts; 0: "
        "no alert",
    )
    manager_silence_s: float = setting(
        600.0,
        unit="s",
        least=0,
        most=30 * DAY_S,
        reason="how long another manager may give no sign of life before an alert; 0: no alert",
    )
    database_outage_s: float = setting(
        120.0,
        unit="s",
        least=0,
        most=DAY_S,
        reason="how long the database may not answer before each manager alerts by itself; 0: no "
        "alert",
    )
    moves_per_day: int = setting(
        100_000,
        unit="units",
        least=0,
        most=10**9,
        reason="how many units may change hands in a day before an alert; some do as agents come "
        "and go; 0: no alert",
    )
    disk_bytes: int = setting(
        5 * GB,
        unit="bytes",
        least=0,
        most=1000 * GB,
        reason="an alert is sent when the manager's disk has less than this left; 0: no alert",
    )
    disk_inodes: int = setting(
        10_000,
        unit="files",
        least=0,
        most=10**9,
        reason="an alert is sent when the manager's disk has fewer free inodes than this; 0: no "
        "alert before none is left",
    )
    expiry_days: float = setting(
        21.0,
        unit="days",
        least=0,
        most=400,
        reason="how many days before the end of a certificate or of a release's signature an "
        "alert is sent; 0: no alert",
    )
    round_days: float = setting(
        14.0,
        unit="days",
        least=0,
        most=3650,
        reason="how many days may pass without a new round before an alert; 0: no alert",
    )
    backup_days: float = setting(
        3.0,
        unit="days",
        least=0,
        most=3650,
        reason="how many days may pass without a backup before an alert; 0: no alert, as where "
        "backups are made otherwise",
    )
