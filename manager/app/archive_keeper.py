"""The manager's archive, composed: its intake, its selections, its jobs of the clock."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Self

from manager.app.leadership import Leadership
from manager.clock import Clock
from manager.db import Database
from manager.distribution import Downloads, Usage, read_query
from manager.intake.uploads.file_acceptance import SegmentIntake
from manager.intake.workers.workers import Workers
from manager.operations.actor import CLOCK, Actor
from manager.operations.archive import selection_results
from manager.operations.archive.archive_mirrors import Mirror, mirrors
from manager.operations.archive.downloads import forget_downloads
from manager.operations.archive.selection_files import SelectionSources
from manager.operations.identity.installation import MarkedFiles
from manager.operations.segments import archive_upkeep, orphans, trash_contents
from manager.operations.segments.adoption import Adopted, Adoption, IdOf, adopt
from manager.operations.segments.archive_upkeep import Rewrite
from manager.operations.segments.file_checks import FileFinding
from manager.operations.segments.kept_file_list import FilePlaces
from manager.operations.segments.orphans import Swept
from manager.operations.segments.scrub import Pace, Scrubber
from manager.operations.segments.segment_adoption import Rebuild
from manager.operations.segments.segment_intake import ExaminationTools, Examine
from manager.operations.segments.segment_repair import rebuild_index
from manager.operations.segments.trash_contents import TrashDay, TrashFile
from manager.operations.segments.trash_purge import purge_trash
from manager.settings import ArchiveSettings
from manager.store import Layout, Spool
from manager.store.segments.object_store import ObjectStore
from manager.store.segments.segment_examination import examine_segment
from manager.store.segments.segment_rebuild import rebuild_segment
from manager.store.segments.segment_rewrite import rewrite_segment
from manager.store.segments.segment_store import DirectoryStore, SegmentStore
from manager.store.segments.trash import Trash
from shared.frozen import frozen

__all__ = ["Archive", "Readers", "open_archive", "store_of"]

USAGE_S = 10.0
SCRUB_S = 10.0
JOBS_S = 2.0
HOUR_S = 3600.0
DAY_S = 86_400.0


@frozen
class Readers:
    """Readers and writers of segments; by default the calling thread, for tests."""

    examine: Examine = examine_segment
    rewrite: Rewrite = rewrite_segment
    rebuild: Rebuild = rebuild_segment

    @classmethod
    def of(cls, workers: Workers) -> Self:
        """Return those of child processes."""
        run = workers.run_here
        return cls(
            partial(run, examine_segment),
            partial(run, rewrite_segment),
            partial(run, rebuild_segment),
        )


@frozen
class Archive:
    """The parts of the archive."""

    settings: ArchiveSettings
    reading: ExaminationTools
    rewrite: Rewrite
    rebuild: Rebuild
    making: SelectionSources
    store: SegmentStore
    intake: SegmentIntake
    usage: Usage
    downloads: Downloads

    def of(self, db: Database) -> Self:
        """Return the same archive on another handle of the same database."""
        making = replace(self.making, db=db)
        return replace(self, making=making, intake=SegmentIntake(db, self.reading, making.now_ms))

    def compact(self, actor: Actor = CLOCK) -> tuple[int, int]:
        """Rewrite withdrawn data, in the trash too; return the numbers of rewritten, deleted."""
        making, reading, rewrite = self.making, self.reading, self.rewrite
        selection_results.remove_old_results(making, self.settings.selection_retention_s)
        done = archive_upkeep.compact(making.db, reading, rewrite, actor, making.now_ms())
        orphans.sweep_trash(making.db, reading, time.time(), actor)
        purge_trash(making.db, reading, rewrite, actor, making.now_ms())
        return done

    def adopt(self, actor: Actor, *, dry_run: bool, trusted: bool, id_of: IdOf = "") -> Adopted:
        """Give the files this installation's id, and enter segments that no row names."""
        asked = replace(self.adoption(), dry_run=dry_run, trusted=trusted, id_of=id_of)
        return adopt(asked, actor, self.making.now_ms())

    def adoption(self) -> Adoption:
        """Return the input of an adoption of these files, with default options."""
        files = MarkedFiles(self.reading.layout, self.store)
        return Adoption(self.making.db, self.reading, files, self.rebuild)

    def trash(self) -> list[TrashDay]:
        """Return the contents of the trash by day."""
        return trash_contents.trash_days(self.reading, self.settings.trash_retention_s)

    def trash_files(self, day: str, most: int) -> list[TrashFile]:
        """Return files that lie in the trash of a day."""
        return trash_contents.trash_files(self.reading, day, most)

    def put_back(self, actor: Actor) -> Swept:
        """Restore files from the trash that a row names and that exist only there."""
        return orphans.sweep_trash(self.making.db, self.reading, time.time(), actor)

    @property
    def places(self) -> FilePlaces:
        """Return where kept files lie."""
        return FilePlaces(self.making.layout, self.store)

    @property
    def pace(self) -> Pace:
        """Return how fast kept files are verified."""
        return Pace(self.settings.scrub_days, self.settings.scrub_bytes_per_s)

    def scrubber(self) -> Scrubber:
        """Return who verifies kept files in the background."""
        making = self.making

        def rebuild(found: FileFinding) -> bool:
            assert found.segment_id is not None, "it is the index of a segment"
            return rebuild_index(making.db, self.reading, found.segment_id, making.now_ms())

        return Scrubber(making.db, self.places, self.pace, making.now_ms, rebuild)

    def mirrors(self, share: float, limit: int) -> list[Mirror]:
        """Return hosts that show what others show."""
        return mirrors(self.making, share, limit)

    def run_jobs(self) -> int:
        """Make the results that third parties wait for; return how many."""
        made = 0
        while selection_results.run_next_job(self.making, read_query):
            made += 1
        return made

    def flush(self) -> None:
        """Write down what third parties took."""
        self.usage.flush()
        self.downloads.flush()

    def tidy(self) -> None:
        """Remove old results, changes and downloads; move files that no row names to the trash."""
        making, settings = self.making, self.settings
        selection_results.remove_old_results(making, settings.selection_retention_s)
        archive_upkeep.remove_orphans(making.db, self.reading)
        archive_upkeep.forget_changes(making.db, settings.change_retention_s, making.now_ms())
        forget_downloads(making.db, making.now_ms())

    def empty_trash(self) -> None:
        """Delete some files that have been in the trash for longer than its setting."""
        settings = self.settings
        trash_contents.empty_trash(
            self.making.db,
            self.reading,
            settings.trash_retention_s,
            settings.trash_share_per_hour,
            time.time(),
        )

    def begin(self, clock: Clock, leadership: Leadership, led: Database) -> Scrubber:
        """Register the jobs of the clock; a new leader continues where its predecessor ended.

        Returns the verifier of files, which must end before the clock.
        """
        ours, only = self.of(led), leadership.only
        clock.every(USAGE_S, "usage", self.flush)
        again = partial(selection_results.begin_again, led)
        clock.every(JOBS_S, "archive jobs", only(ours.run_jobs, first=again))
        layout = self.making.layout
        if layout.fronted:
            give_all = partial(layout.access.give_all, layout.sent)
            clock.every(DAY_S, "archive readers", only(give_all))
        clock.every(self.settings.compaction_interval_s, "compaction", only(ours.compact))
        clock.every(DAY_S, "archive tidying", only(ours.tidy))
        clock.every(HOUR_S, "archive trash", only(ours.empty_trash))
        scrubber = ours.scrubber()
        clock.every(SCRUB_S, "scrub", only(scrubber.run))
        return scrubber


def store_of(settings: ArchiveSettings, layout: Layout) -> SegmentStore:
    """Return where segments lie. Raises SettingError."""
    if settings.store:
        return ObjectStore(settings.store, settings.store_endpoint, settings.store_region)
    return DirectoryStore(layout.segments, layout.access)


def open_archive(
    settings: ArchiveSettings,
    db: Database,
    layout: Layout,
    store: SegmentStore,
    spool: Spool,
    readers: Readers,
    now_ms: Callable[[], int],
    check: Callable[[], None],
) -> Archive:
    """Return the archive of a manager.

    check: refuses to move or delete files that are not this database's.
    """
    reading = ExaminationTools(
        layout,
        store,
        readers.examine,
        lambda: spool.temporary(".segment"),
        settings.duckdb_memory_bytes,
        settings.segment_cpu_s,
        Trash(layout, store),
        check,
    )
    usage = Usage(db, now_ms)
    return Archive(
        settings,
        reading,
        readers.rewrite,
        readers.rebuild,
        SelectionSources(db, layout, store, settings.duckdb_memory_bytes, now_ms),
        store,
        SegmentIntake(db, reading, now_ms),
        usage,
        Downloads(db, usage, now_ms, settings.downloads_per_token),
    )
