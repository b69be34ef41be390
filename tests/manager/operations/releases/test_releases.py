"""Releases are published, offered by rings, halted and revoked; nothing unsigned is kept."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from securesystemslib.signer import CryptoSigner
from tuf.api.metadata import Timestamp

from manager.db.engine import Database
from manager.errors import ConflictError, ForbiddenError, NotFoundError, TooOldError
from manager.operations.identity.enrolment import AgentIdentity, enrol, issue_join_token
from manager.operations.people.audit_log import audit_page
from manager.operations.releases.offer_snapshots import ShownOffer, offer_of, read_offer
from manager.operations.releases.release_views import list_releases, metadata_file, running_out
from manager.operations.releases.releases import (
    begin_releases,
    publish,
    renew_timestamp,
    revoke,
    take_next,
)
from manager.operations.releases.rollouts import (
    halt,
    offer_for,
    pin_version,
    roll_out,
    set_canary,
    set_minimum_version,
    too_old,
)
from manager.operations.releases.update_reports import report_update, update_reports_of
from manager.releases.metadata import Release, check_role, read
from manager.releases.signed_metadata import new_root, signed_anew, with_release
from manager.signing.keys import make_keys
from manager.signing.protocol import Signed
from manager.signing.signer import Signer
from shared.errors import FormatError
from shared.wire.names import hash_of_key, new_key
from shared.wire.sync import SyncAnswer, SyncRequest
from tests.ceremony import Ceremony, version_of
from tests.manager.operations.syncs import sync
from tests.manager.running import LOCAL, Clock

DAY_MS = 86_400_000


class Centre:
    """A database, the keys, and a signer."""

    def __init__(self, db: Database, folder: Path) -> None:
        self.db = db
        self.clock = Clock()
        self.keys = Ceremony(folder, self.clock)
        self.signer: Signer = self.keys.signer()

    def begin(self) -> None:
        """Begin with the first root."""
        root, targets = self.keys.root.to_bytes(), self.keys.targets.to_bytes()
        begin_releases(self.db, self.signer, root, targets, LOCAL, self.clock())

    def publish(self, version: str) -> None:
        """Sign and publish a release."""
        self.take(self.keys.with_release(version, version.encode()))

    def take(self, targets: bytes, *, here: bool = True) -> list[str]:
        """Publish targets."""
        return publish(self.db, self.signer, targets, lambda _: here, LOCAL, self.clock())

    def agent(self, name: str) -> AgentIdentity:
        """Let an agent join."""
        token = issue_join_token(self.db, name, LOCAL, self.clock())
        return enrol(self.db, name, token.token, hash_of_key(new_key()), self.clock()).agent

    def offered(self, agent: AgentIdentity, running: str = "1.0") -> str:
        """Return the version that an agent is offered."""
        return offer_for(self.db, agent, running).version

    def actions(self) -> list[str]:
        """Return the audit's actions about releases, oldest first."""
        rows = audit_page(self.db, action="release.")
        return [row.action for row in reversed(rows)]


@pytest.fixture
def centre(database: Database, tmp_path: Path) -> Centre:
    """Return a centre that has begun and serves release 1.0."""
    made = Centre(database, tmp_path)
    made.begin()
    made.publish("1.0")
    return made


def test_what_is_published_is_served_whole(centre: Centre) -> None:
    """Root, targets, snapshot and timestamp are there, by number and the newest."""
    assert [version_of(metadata_file(centre.db, f"{role}.json")) for role in
            ("root", "targets", "snapshot", "timestamp")] == [1, 2, 2, 2]  # fmt: skip
    assert version_of(metadata_file(centre.db, "1.targets.json")) == 1
    for name in ("9.root.json", "../root.json", "x.json", "root"):
        with pytest.raises(NotFoundError):
            metadata_file(centre.db, name)
    assert [row.version for row in list_releases(centre.db).releases] == ["1.0"]
    assert centre.actions() == ["release.init", "release.publish"]


def test_only_what_is_signed_is_published(centre: Centre) -> None:
    """Another key, no new release, a changed one, a missing file: nothing changes."""
    keys, now_ms = centre.keys, centre.clock()
    stranger = CryptoSigner.generate_ed25519()
    forged = with_release(keys.targets, Release("2.0", "x.zip", "0" * 64, 1), now_ms, 9)
    with pytest.raises(ForbiddenError, match="not signed by enough keys"):
        centre.take(keys.next_targets(forged, stranger))
    with pytest.raises(ConflictError, match="the next ones must be 3"):
        centre.take(keys.targets.to_bytes())
    two = keys.with_release("2.0", b"two")
    with pytest.raises(NotFoundError, match="was not received"):
        centre.take(two, here=False)
    with pytest.raises(FormatError, match=r"release 1\.0 is missing"):
        centre.take(keys.without_release("1.0"))
    assert [row.version for row in list_releases(centre.db).releases] == ["1.0"]


def test_rings_widen_and_a_halt_stops_them(centre: Centre) -> None:
    """A release goes to canaries, a tenth, all; a halt needs no key."""
    centre.publish("1.1")
    agents = [centre.agent(f"a{number}.example") for number in range(40)]
    canary = agents[0]
    set_canary(centre.db, canary.name, LOCAL, centre.clock(), canary=True)
    counts = []
    for ring in ("canary", "tenth", "all"):
        assert centre.offered(canary) == ("" if ring == "canary" else "1.1")
        roll_out(centre.db, "1.1", ring, LOCAL, centre.clock())
        assert centre.offered(canary) == "1.1"
        counts.append(sum(centre.offered(agent) == "1.1" for agent in agents))
    assert counts[0] == 1
    assert 1 < counts[1] < 20
    assert counts[2] == 40
    halt(centre.db, "1.1", LOCAL, centre.clock())
    halt(centre.db, "1.1", LOCAL, centre.clock())
    assert centre.offered(canary) == ""
    roll_out(centre.db, "1.1", "canary", LOCAL, centre.clock())
    assert centre.offered(canary) == "1.1"
    assert centre.actions()[-3:] == ["release.rollout", "release.halt", "release.rollout"]


def _shown(centre: Centre, version: str = "1.0") -> ShownOffer:
    """Return what a page shows of a release now."""
    (row,) = (one for one in list_releases(centre.db).releases if one.version == version)
    return offer_of(row)


def test_who_decides_by_an_old_page_ends_no_halt_and_narrows_no_ring(centre: Centre) -> None:
    """Halted, widened or rolled out again since: nothing is done, and it says which; as it was
    shown, or without a page, it is done."""
    db, at_ms = centre.db, centre.clock()
    agent = centre.agent("a.example")
    roll_out(db, "1.0", "canary", LOCAL, at_ms + 1, shown=_shown(centre))
    stale = _shown(centre)
    halt(db, "1.0", LOCAL, at_ms + 1)
    with pytest.raises(ConflictError, match=r"halted since it was shown.*load the page again"):
        roll_out(db, "1.0", "tenth", LOCAL, at_ms + 1, shown=stale)
    assert _shown(centre).halted_ms is not None
    halted = _shown(centre)
    roll_out(db, "1.0", "all", LOCAL, at_ms + 2, shown=halted)
    assert audit_page(db, action="release.rollout")[0].detail == (
        '{"before": "canary", "ended_halt": true, "ring": "all"}'
    )
    for old in (stale, halted):
        with pytest.raises(ConflictError, match=r"another ring \(all\) since it was shown"):
            roll_out(db, "1.0", "tenth", LOCAL, at_ms + 1, shown=old)
    assert centre.offered(agent, "0.9") == "1.0"
    wide = _shown(centre)
    roll_out(db, "1.0", "all", LOCAL, at_ms + 3)
    with pytest.raises(ConflictError, match="rolled out again since"):
        roll_out(db, "1.0", "canary", LOCAL, at_ms + 1, shown=wide)
    halt(db, "1.0", LOCAL, at_ms + 4)
    first = _shown(centre)
    roll_out(db, "1.0", "all", LOCAL, at_ms + 5)
    halt(db, "1.0", LOCAL, at_ms + 6)
    with pytest.raises(ConflictError, match="halted since"):
        roll_out(db, "1.0", "all", LOCAL, at_ms + 1, shown=first)


def test_a_form_carries_what_it_showed(centre: Centre) -> None:
    """Both times or none; nonsense is refused, nothing is nobody's look."""
    for offer in (_shown(centre), ShownOffer("tenth", 5), ShownOffer("all", 5, 7)):
        assert read_offer(str(offer)) == offer
    assert read_offer("") is None
    for wrong in ("all", "all 5", "all 5 x", "all 5 7 9"):
        with pytest.raises(FormatError, match="load the page again"):
            read_offer(wrong)


def test_a_pin_and_the_lowest_version_are_as_they_were_shown(centre: Centre) -> None:
    """Another pin, another minimum than the person saw: nothing is done."""
    db, now_ms = centre.db, centre.clock()
    agent = centre.agent("a.example").name
    roll_out(db, "1.0", "all", LOCAL, now_ms)
    pin_version(db, agent, "1.0", LOCAL, now_ms, shown="")
    with pytest.raises(ConflictError, match=r"pinned to 1\.0 since it was shown"):
        pin_version(db, agent, "", LOCAL, now_ms, shown="")
    pin_version(db, agent, "", LOCAL, now_ms, shown="1.0")
    with pytest.raises(ConflictError, match="its pin was removed since"):
        pin_version(db, agent, "1.0", LOCAL, now_ms, shown="1.0")
    set_minimum_version(db, "1.0", LOCAL, now_ms, shown="")
    with pytest.raises(ConflictError, match=r"lowest version is 1\.0 since it was shown"):
        set_minimum_version(db, "0.9", LOCAL, now_ms, shown="")
    set_minimum_version(db, "", LOCAL, now_ms, shown="1.0")
    with pytest.raises(ConflictError, match="lowest version was removed since"):
        set_minimum_version(db, "", LOCAL, now_ms, shown="1.0")


def test_nobody_is_offered_less_than_it_runs(centre: Centre) -> None:
    """But by a pin; an unknown version is offered what is rolled out to it, and nothing newer."""
    roll_out(centre.db, "1.0", "all", LOCAL, centre.clock())
    agent = centre.agent("a.example")
    assert centre.offered(agent, "1.2") == ""
    assert centre.offered(agent, "1.0") == ""
    assert centre.offered(agent, "0.9") == "1.0"
    assert centre.offered(agent, "") == centre.offered(agent, "weird") == "1.0"
    centre.publish("1.1")
    roll_out(centre.db, "1.1", "canary", LOCAL, centre.clock())
    assert centre.offered(agent, "") == "1.0"
    roll_out(centre.db, "1.1", "all", LOCAL, centre.clock())
    halt(centre.db, "1.1", LOCAL, centre.clock())
    assert centre.offered(agent, "") == "1.0"
    pin_version(centre.db, agent.name, "1.0", LOCAL, centre.clock())
    assert centre.offered(agent, "1.2") == "1.0"
    pin_version(centre.db, agent.name, "", LOCAL, centre.clock())
    assert centre.offered(agent, "1.2") == ""


def test_a_revoked_release_is_gone_for_good(centre: Centre) -> None:
    """It takes targets without it, signed by the targets key; its version is never used again."""
    roll_out(centre.db, "1.0", "all", LOCAL, centre.clock())
    db, keys, now_ms = centre.db, centre.keys, centre.clock()
    with_more = keys.with_release("1.1", b"more")
    with pytest.raises(FormatError, match=r"without 1\.0; make them by"):
        revoke(db, centre.signer, "1.0", with_more, LOCAL, now_ms)
    centre.take(with_more)
    revoke(db, centre.signer, "1.0", keys.without_release("1.0"), LOCAL, now_ms)
    assert centre.offered(centre.agent("a.example"), "0.9") == ""
    with pytest.raises(ConflictError, match="revoked"):
        roll_out(db, "1.0", "all", LOCAL, now_ms)
    with pytest.raises(ConflictError, match="never used twice"):
        centre.take(keys.with_release("1.0", b"again"))


def test_the_timestamp_is_renewed_each_day_and_its_end_is_told(centre: Centre) -> None:
    """Without a signer a notice comes days before sites stop updating."""
    assert not renew_timestamp(centre.db, centre.signer, centre.clock())
    centre.clock.advance(86_401)
    assert renew_timestamp(centre.db, centre.signer, centre.clock())
    assert version_of(metadata_file(centre.db, "timestamp.json")) == 3
    assert running_out(centre.db, centre.clock()) == []
    later_ms = centre.clock() + 5 * DAY_MS
    assert [one.role for one in running_out(centre.db, later_ms)] == ["timestamp"]


class Overtaken:
    """A signer that another manager asked at the same time, which wrote first."""

    def __init__(self, centre: Centre) -> None:
        self._centre = centre

    def sign(self, roots: Sequence[bytes], targets: bytes) -> Signed:
        """Sign, and let the other be done before the answer is read."""
        signed = self._centre.signer.sign(roots, targets)
        assert renew_timestamp(self._centre.db, self._centre.signer, self._centre.clock())
        return signed


def test_of_two_managers_that_renew_one_has_done_it(centre: Centre) -> None:
    """What the other was given is older, and is not kept."""
    centre.clock.advance(86_401)
    assert not renew_timestamp(centre.db, Overtaken(centre), centre.clock())
    assert version_of(metadata_file(centre.db, "timestamp.json")) == 4
    assert centre.actions().count("release.renew") == 1


def test_keys_change_by_a_new_root(centre: Centre) -> None:
    """The root that replaces a lost key is signed by the keys that are left."""
    fresh = CryptoSigner.generate_ed25519()
    keys = [*(key.public_key for key in centre.keys.root_keys[:2]), fresh.public_key]
    made = new_root(centre.keys.root.signed, {"root": keys}, {}, centre.clock(), 365)
    root = centre.keys.sign_root(made, centre.keys.root_keys[:2])
    take_next(centre.db, centre.signer, root, None, LOCAL, centre.clock())
    centre.publish("1.1")
    assert version_of(metadata_file(centre.db, "root.json")) == 2


def test_a_stolen_targets_key_is_replaced_with_its_targets(centre: Centre) -> None:
    """Root and targets come together; the same releases, signed by the new key."""
    fresh = CryptoSigner.generate_ed25519()
    made = new_root(
        centre.keys.root.signed, {"targets": [fresh.public_key]}, {}, centre.clock(), 365
    )
    root = centre.keys.sign_root(made)
    with pytest.raises(ForbiddenError, match="targets 2: not signed by enough keys"):
        take_next(centre.db, centre.signer, root, None, LOCAL, centre.clock())
    centre.keys.targets_key = fresh
    again = centre.keys.next_targets(signed_anew(centre.keys.targets, centre.clock(), 365))
    take_next(centre.db, centre.signer, root, again, LOCAL, centre.clock())
    served = [version_of(metadata_file(centre.db, name)) for name in ("root.json", "targets.json")]
    assert served == [2, 3]
    with pytest.raises(FormatError, match="must name the releases of 3"):
        other = centre.keys.with_release("7.0", b"seven")
        take_next(centre.db, centre.signer, None, other, LOCAL, centre.clock())


def test_what_a_site_reports_is_kept_and_a_failure_alerts(centre: Centre) -> None:
    """The agent's page shows the last update; a failed one is an alert."""
    agent = centre.agent("a.example")
    report_update(centre.db, agent, "1.1", "went-back", "sync", "no sync", centre.clock())
    (row,) = audit_page(centre.db, action="agent.update-")
    assert row.alert
    (seen,) = list_releases(centre.db).agents
    assert (seen.told.version, seen.told.outcome, seen.told.step) == ("1.1", "went-back", "sync")
    with pytest.raises(FormatError):
        report_update(centre.db, agent, "1.1", "exploded", "", "", centre.clock())


def test_what_was_told_late_is_kept_with_its_moment(centre: Centre) -> None:
    """The manager was away; that is in the list, alerts nobody and hides no failure before it."""
    agent, now_ms = centre.agent("a.example"), centre.clock()
    report_update(centre.db, agent, "1.1", "went-back", "sync", "no sync", now_ms)
    late = {"at_ms": now_ms - 3 * DAY_MS, "times": 3}
    for _ in range(2):  # the answer was lost, so it comes again
        report_update(centre.db, agent, "", "unreached", "refresh", "no way", now_ms, **late)
    rows = update_reports_of(centre.db, "a.example")
    assert [(row.outcome, row.times, now_ms - row.at_ms) for row in rows] == [
        ("unreached", 3, 3 * DAY_MS),
        ("went-back", 1, 0),
    ]
    late["times"] = 4
    report_update(centre.db, agent, "", "unreached", "refresh", "no way", now_ms, **late)
    assert update_reports_of(centre.db)[0].times == 4
    told = audit_page(centre.db, action="agent.update-unreached")
    assert [row.alert for row in told] == [False, False]
    (seen,) = list_releases(centre.db).agents
    assert seen.told.outcome == "went-back"
    for number in range(60):
        centre.clock.advance(1)
        report_update(centre.db, agent, f"2.{number}", "failed", "install", "", centre.clock())
    rows = update_reports_of(centre.db, "a.example")
    assert (len(rows), rows[0].version) == (50, "2.59")
    report_update(centre.db, agent, "3", "updated", "", "", now_ms, at_ms=now_ms + DAY_MS)
    assert update_reports_of(centre.db)[0].at_ms == now_ms, "no clock is ahead of ours"
    with pytest.raises(NotFoundError):
        update_reports_of(centre.db, "nobody.example")


def test_an_agent_below_the_minimum_gets_no_work(centre: Centre) -> None:
    """Its sync is refused with what to do; from the minimum on it is answered."""
    agent = centre.agent("a.example")
    centre.publish("1.2")
    roll_out(centre.db, "1.2", "all", LOCAL, centre.clock())
    set_minimum_version(centre.db, "1.2", LOCAL, centre.clock())

    def call(version: str, sequence: int) -> SyncAnswer:
        request = SyncRequest(
            agent=agent.name,
            boot_id="b",
            sequence=sequence,
            version=version,
            clock_ms=centre.clock(),
            state="idle",
        )
        return sync(centre.db, agent, request, centre.clock())

    with pytest.raises(TooOldError, match="prs update"):
        call("1.1", 1)
    assert call("1.2", 2).round == 0


def test_a_minimum_is_below_or_above(centre: Centre) -> None:
    """Agents that say no version that is a release are not called old."""
    centre.publish("1.2")
    roll_out(centre.db, "1.2", "all", LOCAL, centre.clock())
    set_minimum_version(centre.db, "1.2", LOCAL, centre.clock())
    assert list_releases(centre.db).minimum == "1.2"
    assert too_old("1.2", "1.1.9")
    assert not too_old("1.2", "1.2")
    assert not too_old("1.2", "made at home")
    with pytest.raises(FormatError):
        set_minimum_version(centre.db, "latest", LOCAL, centre.clock())


def test_the_minimum_goes_before_rings_and_pins(centre: Centre) -> None:
    """Nobody is offered what would get no work; nobody is left below what nobody can get."""
    db, now_ms = centre.db, centre.clock()
    for version in ("1.1", "1.2", "2.0"):
        centre.publish(version)
    roll_out(db, "1.1", "all", LOCAL, now_ms)
    roll_out(db, "2.0", "canary", LOCAL, now_ms)
    pinned, free, canary = (centre.agent(f"{name}.example") for name in ("p", "f", "c"))
    set_canary(db, canary.name, LOCAL, now_ms, canary=True)
    pin_version(db, pinned.name, "1.0", LOCAL, now_ms)
    with pytest.raises(ConflictError, match="could not update to it; roll one out first"):
        set_minimum_version(db, "1.2", LOCAL, now_ms)  # 2.0 is the canaries' only
    roll_out(db, "1.2", "all", LOCAL, now_ms)
    set_minimum_version(db, "1.2", LOCAL, now_ms)
    assert [centre.offered(one) for one in (pinned, free, canary)] == ["1.2", "1.2", "2.0"]
    assert "your pin 1.0 is below the minimum 1.2" in str(offer_for(db, pinned, "1.0").why)
    with pytest.raises(ConflictError, match="pin a later version"):
        pin_version(db, free.name, "1.1", LOCAL, now_ms)
    pin_version(db, free.name, "1.2", LOCAL, now_ms)
    halt(db, "1.2", LOCAL, now_ms)
    assert centre.offered(free) == "", "a halt holds, also where that leaves somebody below"
    set_minimum_version(db, "", LOCAL, now_ms)
    assert centre.offered(pinned, "") == "1.0", "the pin holds again"


def test_a_signing_process_that_lost_its_disk_begins_anew(centre: Centre, tmp_path: Path) -> None:
    """New keys by a new root; it counts from one, and the old files are served no more."""
    for number in range(3):
        centre.publish(f"1.{number + 1}")
    assert version_of(metadata_file(centre.db, "timestamp.json")) == 5
    keys = make_keys(tmp_path / "new")
    first = metadata_file(centre.db, "1.root.json")
    made = new_root(
        centre.keys.root.signed,
        {"snapshot": [keys["snapshot"]], "timestamp": [keys["timestamp"]]},
        {},
        centre.clock(),
        365,
    )
    centre.signer = Signer(tmp_path / "new", centre.clock)
    centre.signer.trust(first)
    root = centre.keys.sign_root(made)
    take_next(centre.db, centre.signer, root, None, LOCAL, centre.clock())
    served = {role: metadata_file(centre.db, f"{role}.json") for role in ("snapshot", "timestamp")}
    assert {role: version_of(data) for role, data in served.items()} == {
        "snapshot": 1,
        "timestamp": 1,
    }
    check_role("timestamp", made, read(Timestamp, served["timestamp"]), centre.clock())
    with pytest.raises(NotFoundError):
        metadata_file(centre.db, "4.snapshot.json")
    centre.publish("1.9")
    assert version_of(metadata_file(centre.db, "timestamp.json")) == 2
