"""Server and token: one file, readable by its owner only.

Invariant: the token is in that file and in the requests to that server; never in a command line, a
log, a message or an address. It is sent over TLS or to this machine only.
"""

from __future__ import annotations

import contextlib
import ipaddress
import json
import os
import re
from dataclasses import asdict
from pathlib import Path
from typing import Final

import httpx

from client.errors import ClientError, DiskError, TokenError
from shared.frozen import frozen

__all__ = ["Login", "check_token", "check_url", "home", "load", "save"]

FILE: Final = "login.json"

_TOKEN: Final = re.compile(r"[A-Za-z0-9._~+/=-]{16,512}")


@frozen
class Login:
    """A server and how to reach it. url ends with a slash; ca, proxy: empty, or what to use."""

    url: str
    token: str
    ca: str = ""
    proxy: str = ""

    def __repr__(self) -> str:
        return f"Login({self.url!r})"


def home() -> Path:
    """Return the folder of the login: PRS_GET_HOME, or `prs-get` among the user's settings."""
    chosen = os.environ.get("PRS_GET_HOME")
    if chosen:
        return Path(chosen)
    settings = os.environ.get("XDG_CONFIG_HOME")
    return (Path(settings) if settings else Path.home() / ".config") / "prs-get"


def check_url(text: str) -> str:
    """Return the address of a server with a slash at its end; raises ClientError."""
    try:
        url = httpx.URL(text)
    except httpx.InvalidURL as error:
        raise ClientError(f"server {text[:200]!a}: is no URL ({error})") from error
    if url.scheme not in ("https", "http") or not url.host or not 0 < (url.port or 443) < 65536:
        raise ClientError(f"server {text[:200]!a}: must be like https://prsm.example.jp/")
    if url.userinfo or url.query or url.fragment:
        raise ClientError("server: give its address alone, without a name, query or fragment")
    if url.scheme == "http" and not _is_this_machine(url.host):
        raise ClientError(
            f"server {text[:200]!a}: plain HTTP would show the token to everybody on the way; use "
            "https, or a tunnel to this machine"
        )
    return str(url.copy_with(path=url.path.rstrip("/") + "/"))


def check_token(text: str) -> str:
    """Return a token without the spaces around it; raises TokenError, which does not show it."""
    token = text.strip()
    if not _TOKEN.fullmatch(token):
        raise TokenError(
            f"token: {len(token)} characters came, and a token is 16 to 512 letters, digits and "
            "signs in one line; take it as the administrator sent it"
        )
    return token


def save(folder: Path, login: Login) -> Path:
    """Write the login down, readable by this user only; raises DiskError."""
    path = folder / FILE
    draft = path.with_name(f"{FILE}.{os.getpid()}.part")
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        draft.unlink(missing_ok=True)
        handle = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(handle, "w") as file:
            json.dump(asdict(login), file)
            file.flush()
            os.fsync(file.fileno())
        draft.replace(path)
    except OSError as error:
        with contextlib.suppress(OSError):
            draft.unlink(missing_ok=True)
        raise DiskError(f"{path}: the login cannot be kept ({error.strerror})") from error
    return path


def load(folder: Path) -> Login:
    """Return the login of the environment (containers have no file), or the one that is kept.

    Raises TokenError where there is none, or others may read it; ClientError.
    """
    url, token = os.environ.get("PRS_GET_URL"), os.environ.get("PRS_GET_TOKEN")
    if url and token:
        return Login(check_url(url), check_token(token))
    path = folder / FILE
    try:
        with path.open() as file:
            mode = os.fstat(file.fileno()).st_mode
            values = json.load(file)
    except FileNotFoundError as error:
        raise TokenError(f"{path}: not there; `prs-get login URL` first") from error
    except (OSError, ValueError) as error:
        raise TokenError(f"{path}: cannot be read ({error}); `prs-get login URL` again") from error
    if mode & 0o077:
        raise TokenError(
            f"{path}: others may read the token; `chmod 600` it, or ask for another if they did"
        )
    try:
        return Login(**{name: str(value) for name, value in values.items()})
    except (TypeError, AttributeError) as error:
        raise TokenError(f"{path}: is no login; `prs-get login URL` again") from error


def _is_this_machine(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
