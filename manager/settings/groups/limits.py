"""Settings of the manager: sizes and numbers that it takes."""

from __future__ import annotations

from shared.frozen import frozen
from shared.settings import Range, setting

__all__ = ["LimitSettings"]

KB, MB, GB = 1000, 1000**2, 1000**3
HOUR_S = 3600


@frozen
class LimitSettings:
    """Limits on input from the network."""

    request_bytes: int = setting(
        1 * MB,
        Range("bytes", KB, 8 * MB),
        "largest body of a request of people or scripts; larger ones are refused; the server reads "
        "those of some fields up to 64 KB only",
    )
    sync_bytes: int = setting(
        8 * MB,
        Range("bytes", 10 * KB, GB),
        "largest body of an agent's sync; 10,000 finished units with long names are 5 MB",
    )
    hosts_bytes: int = setting(
        2 * GB,
        Range("bytes", KB, 1000 * GB),
        "largest list of hosts that can be imported; enough for ten million hosts; streamed, so "
        "this is disk, not memory",
    )
    discovered_bytes: int = setting(
        64 * MB,
        Range("bytes", KB, 100 * GB),
        "largest list of found hosts (message M2) as an agent sends it; larger ones are refused",
    )
    discovered_decoded_bytes: int = setting(
        256 * MB,
        Range("bytes", KB, 1000 * GB),
        "largest list of found hosts (message M2) when it is decompressed; a small body may hold a "
        "huge one",
    )
    discovered_lines: int = setting(
        5_000_000,
        Range("lines", 1, 10**9),
        "most lines of one list of found hosts (message M2), comments included; an agent may "
        "report a million hosts a day",
    )
    discoveries_per_day: int = setting(
        1_000_000,
        Range("hosts", 0, 10**9),
        "how many new hosts and start pages one agent may report in a day; a wild or hostile agent "
        "must not fill the tables",
    )
    log_bytes: int = setting(
        4 * GB,
        Range("bytes", KB, 1000 * GB),
        "largest crawl log (message M3) as an agent sends it; the default is 40 million lines at "
        "100 bytes compressed",
    )
    log_decoded_bytes: int = setting(
        64 * GB,
        Range("bytes", KB, 10_000 * GB),
        "largest crawl log (message M3) when it is decompressed; a small body may hold a huge one",
    )
    log_lines: int = setting(
        100_000_000,
        Range("lines", 1, 10**12),
        "most lines of one crawl log (message M3), comments included; a body of the largest size "
        "holds 40 to 130 million",
    )
    decoded_ratio: float = setting(
        200.0,
        Range("decoded over sent bytes", 2, 2000),
        "how many times its size a list or log of an agent may decode to, the first 8 MB not "
        "counted; crawl logs reach 12, gzip at most 1,030",
    )
    parallel_uploads: int = setting(
        16,
        Range("uploads", 1, 1000),
        "how many logs and lists of agents are received at the same time; the others are "
        "refused (503) and come again",
    )
    uploads_per_agent: int = setting(
        4,
        Range("uploads", 1, 1000),
        "how many logs and lists of one agent are received or read at the same time; one only "
        "while more than half of limits.parallel_uploads are under way; more are answered 429",
    )
    queued_bytes_per_agent: int = setting(
        8 * GB,
        Range("bytes", KB, 10_000 * GB),
        "how many bytes of one agent's logs and lists may come in or wait to be read at the same "
        "time; two of the largest logs; more are answered 429",
    )
    large_messages_per_sender: int = setting(
        4,
        Range("messages", 1, 1000),
        "how many messages of more than 16 KB (syncs, JSON of scripts, forms of the console) of "
        "one agent, third party or person are received or read at the same time; more are answered "
        "429",
    )
    threads_per_sender: int = setting(
        8,
        Range("threads", 1, 64),
        "how many of the 64 threads that wait for the database and the disk the requests of one "
        "agent, third party, person or address may take; their others wait behind those of all "
        "others; a browser has six requests under way",
    )
    queued_logins: int = setting(
        64,
        Range("logins", 1, 10_000),
        "how many logins from unknown devices may wait for the check of their password; more are "
        "answered 503; one takes a tenth of a second",
    )
    queued_known_device_logins: int = setting(
        16,
        Range("logins", 1, 10_000),
        "how many logins from devices that logged in before may wait beside the others; more are "
        "answered 503",
    )
    logins_per_address: int = setting(
        2,
        Range("logins", 1, 1000),
        "how many logins one address or known device may have under way; more are answered 429",
    )
    uploads_per_minute: int = setting(
        30,
        Range("uploads", 1, 100_000),
        "how many logs and lists one agent may send in a minute; it has a log a night",
    )
    request_head_s: float = setting(
        30.0,
        Range("s", 0.1, 600),
        "how long a connection may take to send the head of a request before it is cut off",
    )
    upload_idle_s: float = setting(
        60.0,
        Range("s", 1, HOUR_S),
        "how long the sender of a body may send nothing before it is given up",
    )
    min_upload_bytes_per_s: int = setting(
        100,
        Range("bytes/s", 0, 10**9),
        "an upload that is slower than this after 30 s is given up; any modem is faster, who only "
        "wants to hold a connection is not",
    )
    reserve_bytes: int = setting(
        256 * MB,
        Range("bytes", 0, 1000 * GB),
        "disk left free by uploads, so that the database can still write",
    )
    connections: int = setting(
        2000,
        Range("connections", 10, 100_000),
        "how many connections the manager holds at the same time; each costs a file and some KB; "
        "more are answered 503",
    )
