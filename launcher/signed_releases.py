"""Verification of releases: The Update Framework's own client, from the first root on.

Invariant: a release is named here only if the targets keys signed it, a snapshot and a timestamp
that are not over cover it, and nothing is older than the data seen before: python-tuf keeps what it
has verified in `launcher/metadata` and refuses to go back.
"""

from __future__ import annotations

import hashlib
import json
import shutil
from dataclasses import dataclass
from pathlib import Path

from tuf.api.exceptions import (
    DownloadError,
    DownloadHTTPError,
    ExpiredMetadataError,
    RepositoryError,
)
from tuf.api.metadata import Metadata, TargetFile, Targets
from tuf.ngclient import Updater, UpdaterConfig

from launcher.errors import LauncherError, OfflineError, RefusedError
from launcher.installation import Installation
from launcher.manager import Fetcher, Manager
from launcher.time_limits import METADATA_S, download_s, time_limit
from shared.versions import is_version

__all__ = ["Release", "SignedReleases"]


@dataclass(frozen=True)
class Release:
    """A release that people signed."""

    version: str
    target: TargetFile

    @property
    def fingerprint(self) -> str:
        """Return a digest of all that is signed of it: name, length, hashes, remarks."""
        said = {"path": self.target.path, **self.target.to_dict()}
        return hashlib.sha256(json.dumps(said, sort_keys=True).encode()).hexdigest()


class SignedReleases:
    """The signed releases, as of now."""

    def __init__(self, installation: Installation, manager: Manager) -> None:
        """Fetch and verify all metadata. Raises LauncherError and its kinds."""
        folder = installation.own / "metadata"
        folder.mkdir(exist_ok=True)
        try:
            first = installation.root.read_bytes()
        except FileNotFoundError as error:
            raise LauncherError(
                f"{installation.root}: no root to judge releases by; it comes with the archive "
                "that is installed, or by `prs update --root FILE` from the administrator of the "
                "crawl"
            ) from error
        with _in_words("the signed files"), time_limit(METADATA_S, manager.url):
            self._updater = Updater(
                str(folder),
                f"{manager.url}/metadata/",
                str(installation.scratch),
                f"{manager.url}/targets/",
                Fetcher(manager),
                UpdaterConfig(max_root_rotations=1000),
                bootstrap=first,
            )
            self._updater.refresh()
            targets: Metadata[Targets] = Metadata.from_file(str(folder / "targets.json"))
        self.releases = dict(_named(targets.signed))

    def download(self, release: Release, installation: Installation) -> Path:
        """Return the file of a release, its length and hash as signed. Raises LauncherError."""
        free = shutil.disk_usage(installation.scratch).free
        if free < 2 * release.target.length:
            raise LauncherError(
                f"{free // 1_000_000} MB are free, and {release.version} needs more than twice "
                f"its {release.target.length // 1_000_000} MB; make room"
            )
        seconds, target = download_s(release.target.length), installation.scratch / "file"
        with _in_words(f"the file of {release.version}"), time_limit(seconds, release.target.path):
            return Path(self._updater.download_target(release.target, str(target)))


class _in_words:  # noqa: N801 - reads as a statement
    """Turn what python-tuf raises into a sentence."""

    def __init__(self, what: str) -> None:
        self._what = what

    def __enter__(self) -> None:
        pass

    def __exit__(self, _kind: object, error: BaseException | None, _trace: object) -> None:
        match error:
            case ExpiredMetadataError():
                raise RefusedError(
                    f"{self._what}: {error}. Nothing newer is signed, or something keeps it from "
                    "us; the administrator sees more"
                ) from error
            case RepositoryError():
                raise RefusedError(f"{self._what}: not genuine: {error}") from error
            case DownloadHTTPError(status_code=status) if status in (401, 403):
                raise RefusedError(f"{self._what}: the manager refuses our key") from error
            case DownloadError():
                raise OfflineError(f"{self._what}: {error}") from error
            case OSError():
                raise LauncherError(f"{self._what}: {error.strerror or error}") from error


def _named(targets: Targets) -> list[tuple[str, Release]]:
    found = []
    for target in targets.targets.values():
        custom = target.custom if isinstance(target.custom, dict) else {}
        version = custom.get("version")
        if isinstance(version, str) and is_version(version):
            found.append((version, Release(version, target)))
    return found
