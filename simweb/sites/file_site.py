"""A directory of real files as a host.

Only regular files are served. A path never leads out of the directory by `..`, whatever its
escapes; symbolic links may lead out of it when the operator allows that (Debian's documents are
full of such links).
"""

from __future__ import annotations

import mimetypes
import stat
from email.utils import formatdate
from functools import lru_cache
from html import escape
from pathlib import Path
from urllib.parse import quote, unquote_to_bytes

from simweb.servers.answer import Answer, text_answer
from simweb.servers.request import Request
from simweb.sites.options import WorldOptions
from simweb.sites.plan import HostPlan

__all__ = ["FILE_LIMIT_BYTES", "FolderAnswers", "local_path"]

FILE_LIMIT_BYTES = 64 * 1024 * 1024
_ROBOTS_LIMIT_BYTES = 500 * 1024  # as RFC 9309, 2.5


def local_path(root: Path, path: str, follow_symlinks: bool) -> Path | None:
    """Return the file or directory that a URL path names; None for none or a forbidden one."""
    parts = [part for part in unquote_to_bytes(path).split(b"/") if part not in (b"", b".")]
    if any(part == b".." or b"\0" in part for part in parts):
        return None
    found = root.joinpath(*(part.decode("utf-8", "surrogateescape") for part in parts))
    try:
        real = found.resolve(strict=True)
    except (OSError, RuntimeError):
        return None
    if not follow_symlinks and not real.is_relative_to(root):
        return None
    return found


class FolderAnswers:
    """Answers of folder hosts."""

    def __init__(self, options: WorldOptions) -> None:
        self._follow = options.folder_follow_symlinks
        self._listing = options.folder_listing

    def robots_text(self, host: HostPlan) -> str:
        """Return the robots.txt that lies in the folder; empty when there is none."""
        found = local_path(Path(host.folder), "/robots.txt", self._follow)
        try:
            mode = found.stat() if found else None
        except OSError:
            return ""
        if found is None or mode is None or not stat.S_ISREG(mode.st_mode):
            return ""
        return _text_of(str(found), mode.st_mtime_ns)

    def answer(self, host: HostPlan, request: Request) -> Answer:
        """Return the file, a listing, a redirect to the directory, 304, 403 or 404."""
        root = Path(host.folder)
        found = local_path(root, request.path, self._follow)
        try:
            status = found.stat() if found else None
        except OSError:
            status = None
        if found is None or status is None:
            return text_answer(404)
        if stat.S_ISDIR(status.st_mode):
            return self._directory(found, request)
        if not stat.S_ISREG(status.st_mode) or request.path.endswith("/"):
            return text_answer(404)
        return _file(found, request)

    def _directory(self, folder: Path, request: Request) -> Answer:
        if not request.path.endswith("/"):
            query = request.target.partition("?")[2]
            # Relative, and `.`-led: a Location of `//name/` would name another host.
            location = f"./{request.path.rpartition('/')[2]}/{'?' + query if query else ''}"
            return text_answer(301, headers=[("Location", location)])
        index = folder / "index.html"
        if index.is_file():
            inside = index.resolve().is_relative_to(folder.resolve())
            if self._follow or inside:
                return _file(index, request)
        if not self._listing:
            return text_answer(404)
        return _listed(folder)


def _file(found: Path, request: Request) -> Answer:
    try:
        status = found.stat()
        if status.st_size > FILE_LIMIT_BYTES:
            return text_answer(403, f"over {FILE_LIMIT_BYTES} bytes\n")
        tag = f"{status.st_mtime_ns:x}-{status.st_size:x}"
        since = int(status.st_mtime)
        headers = [("ETag", f'"{tag}"'), ("Last-Modified", formatdate(since, usegmt=True))]
        if request.has_current(tag, since):
            return Answer(304, headers)
        kind, packing = mimetypes.guess_type(found.name)
        if packing:
            kind = f"application/{packing}"
        headers.insert(0, ("Content-Type", kind or "application/octet-stream"))
        return Answer(200, headers, found.read_bytes())
    except PermissionError:
        return text_answer(403)
    except OSError:
        return text_answer(404)


def _listed(folder: Path) -> Answer:
    try:
        entries = sorted((path.name, path.is_dir()) for path in folder.iterdir())
    except OSError:
        return text_answer(403)
    items = []
    for name, is_folder in entries:
        end = "/" if is_folder else ""
        raw = name.encode("utf-8", "surrogateescape")
        shown = escape(raw.decode("utf-8", "replace"))
        items.append(f'<li><a href="./{quote(raw)}{end}">{shown}{end}</a>\n')
    title = escape(folder.name)
    body = (
        '<!DOCTYPE html>\n<html><head><meta charset="utf-8">'
        f"<title>{title}</title></head><body>\n<ul>\n{''.join(items)}</ul>\n</body></html>\n"
    )
    return Answer(200, [("Content-Type", "text/html; charset=utf-8")], body.encode())


@lru_cache(maxsize=256)
def _text_of(name: str, _changed_ns: int) -> str:
    try:
        with Path(name).open("rb") as file:
            return file.read(_ROBOTS_LIMIT_BYTES).decode("utf-8", "replace")
    except OSError:
        return ""
