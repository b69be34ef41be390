"""One host in the source's layout, made from captures.

    html/sumh/suml/host:port/extserver.list
                             transferredurl.list
                             transferredurldate.list
                             data/N        decoded body; N: line of transferredurl.list, from 1
                             data/N.hdr    HTTP header as received

The source leaves open where pages lie; `data/` is ours.

Invariant: the folder appears complete or not at all; nothing of a page becomes a path, only
numbers and a checked host do. An export can be made again from its segments, so it is not synced
to the disk.
"""

from __future__ import annotations

import re
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import Final, Self

from shared.archive.capture import Capture
from shared.archive.classic import (
    DATE_LIST,
    LINK_LIST,
    URL_LIST,
    ExternalLink,
    TransferDate,
    date_entry,
    link_line,
    path_line,
    read_transfers,
)
from shared.archive.sums import host_folder
from shared.errors import ConflictError, FormatError
from shared.frozen import frozen
from shared.urls import name_and_port

__all__ = ["DATA_FOLDER", "ExportedPage", "HostExport", "read_export", "url_path"]

DATA_FOLDER: Final = "data"
HEADER_SUFFIX: Final = ".hdr"


@frozen
class ExportedPage:
    """One page of an export as a reader gets it."""

    path: str
    date: TransferDate
    header: bytes
    body: bytes


def url_path(url: str) -> str:
    """Return path and query of a URL: `/` of `http://www.foo.jp/`."""
    _, _, rest = url.partition("://")
    start = re.search(r"[/?]|$", rest)
    path = rest[start.start() :] if start else ""
    return path if path.startswith("/") else f"/{path}"


class HostExport:
    """Writes the folder of one host under `root`; use it in a `with` statement."""

    def __init__(self, root: Path, host_port: str, *, replace: bool = False) -> None:
        """Begin a draft; raises FormatError for a name that is no host.

        replace: an export that is there already makes room; without, it is a ConflictError.
        """
        self.folder = root / host_folder(host_port)
        self._host_port = host_port
        self._replace = replace
        self._count = 0
        self._refuse_existing()
        self.folder.parent.mkdir(parents=True, exist_ok=True)
        self._draft = Path(tempfile.mkdtemp(prefix=".draft-", dir=self.folder.parent))
        with ExitStack() as stack:
            stack.callback(shutil.rmtree, self._draft, ignore_errors=True)
            self._draft.chmod(0o755)
            (self._draft / DATA_FOLDER).mkdir()
            self._links, self._urls, self._dates = (
                stack.enter_context((self._draft / name).open("wb"))
                for name in (LINK_LIST, URL_LIST, DATE_LIST)
            )
            self._undo = stack.pop_all()

    def add(self, capture: Capture, body: bytes) -> int:
        """Add a page; return its number N.

        body: without content encoding; for a revisit, that of the capture it refers to.
        Raises FormatError for a capture of another host.
        """
        self._check_own(capture.url)
        path = path_line(url_path(capture.url))
        date = date_entry(TransferDate(capture.fetched_at_ms, capture.last_modified_ms, len(body)))
        number = self._count + 1
        page = self._draft / DATA_FOLDER / str(number)
        page.write_bytes(body)
        page.with_name(page.name + HEADER_SUFFIX).write_bytes(capture.response_header)
        self._urls.write(path)
        self._dates.write(date)
        self._count = number
        return number

    def link(self, target: str, source: str) -> None:
        """Add a link from a page of the host to another host; both URLs canonical."""
        self._check_own(source)
        if name_and_port(target) == self._host_port:
            raise FormatError(
                "archive_files.link_inside", target=target[:200], host=self._host_port
            )
        self._links.write(link_line(ExternalLink(target, source)))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        with self._undo:
            if kind is None:
                for file in (self._links, self._urls, self._dates):
                    file.close()
                self._publish()

    def _publish(self) -> None:
        self._refuse_existing()
        if self.folder.exists():
            old = Path(tempfile.mkdtemp(prefix=".old-", dir=self.folder.parent))
            self.folder.rename(old / self.folder.name)
            self._draft.rename(self.folder)
            shutil.rmtree(old)
            return
        self._draft.rename(self.folder)

    def _refuse_existing(self) -> None:
        if self.folder.exists() and not self._replace:
            raise ConflictError("archive_files.export_exists", folder=str(self.folder))

    def _check_own(self, url: str) -> None:
        if name_and_port(url) != self._host_port:
            raise FormatError("archive_files.other_host", url=url[:200], host=self._host_port)


def read_export(folder: Path) -> Iterator[ExportedPage]:
    """Give the pages of an exported host in the order of its lists.

    Raises FormatError where lists and data do not fit; OSError.
    """
    with (folder / URL_LIST).open("rb") as urls, (folder / DATE_LIST).open("rb") as dates:
        for number, (path, date) in enumerate(read_transfers(urls, dates), 1):
            page = folder / DATA_FOLDER / str(number)
            size_bytes = page.stat().st_size
            if size_bytes != date.size_bytes:
                raise FormatError(
                    "archive_files.page_size",
                    page=str(page),
                    found=size_bytes,
                    list=DATE_LIST,
                    listed=date.size_bytes,
                )
            body = page.read_bytes()
            header = page.with_name(page.name + HEADER_SUFFIX).read_bytes()
            yield ExportedPage(path, date, header, body)
