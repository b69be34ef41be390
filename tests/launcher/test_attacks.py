"""What The Update Framework is for: a manager in wrong hands gives a site nothing unsigned.

Each attack is served over HTTP to a launcher that has seen better; `current` never moves.
Source: The Update Framework, specification, section 1.5 (threat model).
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable

import pytest
from securesystemslib.signer import CryptoSigner
from tuf.api.metadata import Metadata, MetaFile, Root, Snapshot, Timestamp

from manager.releases.metadata import Release, read
from manager.releases.signed_metadata import new_root, with_release, without_release
from manager.signing.keys import read_key
from tests.launcher.site import DAY_MS, Centre, Site, archive

EVIL = archive("6.6.6")


def refused(site: Site, centre: Centre, version: str = "1.1") -> str:
    """Run the launcher; it must change nothing and say why. Return what it reported or logged."""
    assert site.update() == 1
    assert site.running == version
    return site.log.splitlines()[-1]


@pytest.fixture
def seasoned(site: Site, centre: Centre) -> Site:
    """Return a site that went from 1.0 to 1.1."""
    centre.publish("1.1")
    assert site.update() == 0
    return site


def evil_release(centre: Centre, key: CryptoSigner | None) -> bytes:
    """Return targets with a release of the attacker; key: not the targets key."""
    body = Release("6.6.6", "evil.tar.gz", hashlib.sha256(EVIL).hexdigest(), len(EVIL))
    centre.files[f"targets/{body.sha256}.evil.tar.gz"] = EVIL
    centre.offered = {"version": "6.6.6", "target": "evil.tar.gz"}
    made = with_release(centre.keys.targets, body, centre.now_ms, 9)
    return centre.keys.next_targets(made, key or CryptoSigner.generate_ed25519())


def cover(centre: Centre, targets: bytes) -> None:
    """Sign a snapshot and a timestamp with the stolen online keys, and serve all of it."""
    folder = centre.folder / "signer"
    last = read(Timestamp, centre.files["metadata/timestamp.json"]).signed.version
    version = read_version(targets)
    snapshot = Metadata(Snapshot(version=90))
    snapshot.signed.meta["targets.json"] = MetaFile.from_data(version, targets, ["sha256"])
    snapshot.signed.expires = centre.keys.targets.signed.expires
    snapshot.sign(read_key(folder / "snapshot.pem"))
    timestamp = Metadata(Timestamp(version=last + 1))
    timestamp.signed.snapshot_meta = MetaFile.from_data(90, snapshot.to_bytes(), ["sha256"])
    timestamp.signed.expires = centre.keys.targets.signed.expires
    timestamp.sign(read_key(folder / "timestamp.pem"))
    centre.files[f"metadata/{version}.targets.json"] = targets
    centre.files["metadata/90.snapshot.json"] = snapshot.to_bytes()
    centre.files["metadata/timestamp.json"] = timestamp.to_bytes()


def read_version(targets: bytes) -> int:
    """Return the version of targets."""
    return int(Metadata.from_bytes(targets).signed.version)


def test_an_offer_alone_installs_nothing(seasoned: Site, centre: Centre) -> None:
    """A manager that offers what nobody signed is refused."""
    centre.offer("9.9")
    assert "not signed" in refused(seasoned, centre)
    assert centre.reports[-1]["outcome"] == "refused"


def test_a_stolen_manager_signs_no_release(seasoned: Site, centre: Centre) -> None:
    """Snapshot and timestamp keys in wrong hands: targets still need the key of people."""
    cover(centre, evil_release(centre, None))
    assert "not genuine" in refused(seasoned, centre)


def test_an_old_state_is_refused(seasoned: Site, centre: Centre) -> None:
    """Rollback: yesterday's timestamp, however genuine, is older than what was seen."""
    old = dict(centre.files)
    centre.publish("1.2")
    assert seasoned.update() == 0
    centre.files = old
    centre.offer("1.1")
    assert "not genuine" in refused(seasoned, centre, "1.2")


def test_a_state_that_is_over_is_refused(seasoned: Site, centre: Centre) -> None:
    """Freeze: nothing newer comes for longer than a timestamp holds."""
    centre.now_ms -= 8 * DAY_MS
    centre.publish("1.2")
    assert "expired" in refused(seasoned, centre)


def test_files_of_two_states_do_not_mix(seasoned: Site, centre: Centre) -> None:
    """Mix and match: old targets under the new snapshot."""
    before = max(name for name in centre.files if name.endswith(".targets.json"))
    old = centre.files[before]
    centre.publish("1.2")
    newest = max(name for name in centre.files if name.endswith(".targets.json"))
    assert newest != before
    centre.files[newest] = old
    assert "not genuine" in refused(seasoned, centre)


@pytest.mark.parametrize(
    "spoil",
    [
        lambda body: body[:-1] + bytes([body[-1] ^ 1]),
        lambda body: body + b"more",
        lambda body: body[: len(body) // 2],
        lambda _: b"",
    ],
    ids=["a bit", "longer", "cut", "empty"],
)
def test_another_file_is_not_installed(
    seasoned: Site, centre: Centre, spoil: Callable[[bytes], bytes]
) -> None:
    """Wrong software: the file must be as long and hash as it was signed."""
    centre.publish("1.2")
    (name,) = [name for name in centre.files if name.endswith("prs-1.2.tar.gz")]
    centre.files[name] = spoil(centre.files[name])
    assert "the file of 1.2" in refused(seasoned, centre)
    assert not seasoned.installation.release("1.2").exists()


def test_an_archive_that_says_another_version_is_refused(seasoned: Site, centre: Centre) -> None:
    """Somebody signed the wrong file: it is not what it is called."""
    centre.publish("1.2", archive("1.2", said="0.1"))
    assert "says another version" in refused(seasoned, centre)


def test_what_is_lower_than_all_before_is_refused(seasoned: Site, centre: Centre) -> None:
    """A signed, old release with a hole in it is no way in; the last good one is."""
    centre.publish("1.3", archive("1.3", "'broken'"))
    assert seasoned.update() == 1
    assert seasoned.state.highest == "1.3"
    centre.publish("1.2")
    assert "1.2 is older than 1.3" in refused(seasoned, centre)
    centre.offer("1.0")
    assert "1.0 is older than 1.3" in refused(seasoned, centre)
    centre.offer("1.1")
    assert seasoned.update() == 0
    assert seasoned.running == "1.1"


def test_a_revoked_release_is_not_installed(seasoned: Site, centre: Centre) -> None:
    """Whatever the manager offers: targets do not name it any more."""
    centre.publish("1.2")
    made = without_release(centre.keys.targets, "1.2", centre.now_ms, 9)
    centre.serve(centre.keys.next_targets(made))
    assert "it was revoked" in refused(seasoned, centre)


def test_a_stolen_targets_key_is_of_no_use_after_a_new_root(seasoned: Site, centre: Centre) -> None:
    """Key compromise: two people sign a root with another targets key."""
    stolen, fresh = centre.keys.targets_key, CryptoSigner.generate_ed25519()
    root = new_root(read_root(centre), {"targets": [fresh.public_key]}, {}, centre.now_ms, 365)
    centre.roots.append(centre.keys.sign_root(root))
    centre.keys.targets_key = fresh
    centre.publish("1.2")
    assert seasoned.update() == 0
    cover(centre, evil_release(centre, stolen))
    assert "not genuine" in refused(seasoned, centre, "1.2")


def read_root(centre: Centre) -> Root:
    """Return the newest root."""
    return read(Root, centre.roots[-1]).signed


def test_another_root_is_not_followed(seasoned: Site, centre: Centre) -> None:
    """A root that only the attacker's keys signed changes nothing."""
    mine = [CryptoSigner.generate_ed25519() for _ in range(2)]
    keys = [key.public_key for key in mine]
    root = new_root(read_root(centre), {"root": keys, "targets": keys}, {}, centre.now_ms, 365)
    centre.files["metadata/2.root.json"] = centre.keys.sign_root(root, mine)
    assert "not genuine" in refused(seasoned, centre)


def test_a_file_without_end_is_cut_off(seasoned: Site, centre: Centre) -> None:
    """Endless data: metadata has a limit, whoever sends it."""
    centre.files["metadata/timestamp.json"] = b" " * 20_000_000
    assert refused(seasoned, centre)


def test_a_refused_key_is_said(seasoned: Site, centre: Centre) -> None:
    """Downloads need the agent's key; one that was replaced is a sentence, not a loop."""
    seasoned.trust_key(centre.url, "another key")
    assert "refuses our key" in refused(seasoned, centre)
