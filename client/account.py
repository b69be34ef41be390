"""Where the centre is, and with which token: a file that only its owner reads.

The environment (`PRS_GET_URL`, `PRS_GET_TOKEN`) is stronger, for cron and containers.
"""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass
from pathlib import Path
from urllib.parse import urlsplit

from client.errors import RefusedError

__all__ = ["Account", "account_path", "read_account", "write_account"]


@dataclass(frozen=True, slots=True)
class Account:
    """A centre and the token for it."""

    url: str
    token: str


def account_path() -> Path:
    """Return where the account is kept."""
    home = os.environ.get("XDG_CONFIG_HOME") or str(Path.home() / ".config")
    return Path(home) / "prs-get" / "account.json"


def write_account(account: Account) -> Path:
    """Keep an account, readable by this user only; raises RefusedError for a bad address."""
    parts = urlsplit(account.url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise RefusedError(f"{account.url[:200]!a}: must be like https://prsm.example.org/")
    path = account_path()
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    part = path.with_suffix(".part")
    part.unlink(missing_ok=True)
    with os.fdopen(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
        json.dump(asdict(account), file)
    part.replace(path)
    return path


def read_account() -> Account:
    """Return the account of the environment, or that of the last login."""
    url, token = os.environ.get("PRS_GET_URL"), os.environ.get("PRS_GET_TOKEN")
    if url and token:
        return Account(url, token)
    try:
        kept = json.loads(account_path().read_text())
        return Account(url or str(kept["url"]), token or str(kept["token"]))
    except FileNotFoundError as error:
        raise RefusedError(
            "not logged in: `prs-get login URL`, or set PRS_GET_URL and PRS_GET_TOKEN"
        ) from error
    except (ValueError, KeyError, TypeError) as error:
        raise RefusedError(f"{account_path()}: cannot be read; log in again") from error
