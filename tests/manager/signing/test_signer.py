"""The signer signs what people signed, and nothing else, whatever a manager shows it."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest
from securesystemslib.signer import CryptoSigner
from tuf.api.metadata import Root, Snapshot, Timestamp

from manager.errors import ConflictError, ForbiddenError
from manager.releases.metadata import Release, read
from manager.releases.signed_metadata import new_root, with_release
from manager.signing.keys import make_keys, read_key, write_key
from manager.signing.signer import Signer
from shared.errors import FormatError, SettingError
from tests.ceremony import Ceremony
from tests.manager.running import Clock

DAY_S = 86_400


@pytest.fixture
def clock() -> Clock:
    """Return a clock that tests set."""
    return Clock()


@pytest.fixture
def made(tmp_path: Path, clock: Clock) -> Ceremony:
    """Return keys, a root and first targets."""
    return Ceremony(tmp_path, clock)


def test_it_signs_what_the_targets_key_signed(made: Ceremony) -> None:
    """Snapshot and timestamp cover the targets, and the root's keys signed them."""
    root, targets = made.root.to_bytes(), made.targets.to_bytes()
    signed = made.signer().sign([root], targets)
    snapshot = read(Snapshot, signed.snapshot)
    made.root.signed.verify_delegate("snapshot", snapshot.signed_bytes, snapshot.signatures)
    assert snapshot.signed.meta["targets.json"].version == 1
    snapshot.signed.meta["targets.json"].verify_length_and_hashes(targets)
    timestamp = read(Timestamp, signed.timestamp)
    made.root.signed.verify_delegate("timestamp", timestamp.signed_bytes, timestamp.signatures)
    timestamp.signed.snapshot_meta.verify_length_and_hashes(signed.snapshot)


def test_it_signs_for_no_other_key(made: Ceremony, clock: Clock) -> None:
    """A manager that was broken into has no release signed."""
    forged = with_release(made.targets, Release("9.0", "x.zip", "0" * 64, 1), clock(), 365)
    data = made.next_targets(forged, CryptoSigner.generate_ed25519())
    with pytest.raises(ForbiddenError, match="not signed by enough keys"):
        made.signer().sign([made.root.to_bytes()], data)


def test_it_never_goes_back(made: Ceremony) -> None:
    """Targets with a revoked release are not signed again, nor others of the same version."""
    signer, root = made.signer(), made.root.to_bytes()
    first = made.targets
    old = made.with_release("1.0", b"one")
    signer.sign([root], old)
    signer.sign([root], made.without_release("1.0"))
    with pytest.raises(ConflictError, match="3 were signed already"):
        signer.sign([root], old)
    made.targets = first
    made.with_release("1.0", b"one")
    with pytest.raises(ConflictError, match="other targets of this version"):
        signer.sign([root], made.with_release("2.0", b"two"))


def test_its_versions_only_rise_also_over_a_restart(made: Ceremony) -> None:
    """A signer that was killed remembers what it signed."""
    root, targets = made.root.to_bytes(), made.targets.to_bytes()
    versions = []
    for _ in range(3):
        signed = made.signer().sign([root], targets)
        versions.append(read(Timestamp, signed.timestamp).signed.version)
        assert read(Snapshot, signed.snapshot).signed.version == 1
    assert versions == [1, 2, 3]


def test_a_snapshot_is_made_anew_at_half_its_time(made: Ceremony, clock: Clock) -> None:
    """Sites never see one that is nearly over."""
    signer, root, targets = made.signer(), made.root.to_bytes(), made.targets.to_bytes()
    signer.sign([root], targets)
    clock.advance(16 * DAY_S)
    signed = signer.sign([root], targets)
    assert read(Snapshot, signed.snapshot).signed.version == 2


def test_old_targets_are_refused(made: Ceremony, clock: Clock) -> None:
    """People must sign again before a year is over."""
    clock.advance(366 * DAY_S)
    with pytest.raises(ForbiddenError, match=r"root 1: expired on"):
        made.signer().sign([made.root.to_bytes()], made.targets.to_bytes())


def test_it_follows_a_root_that_the_old_keys_signed(made: Ceremony, clock: Clock) -> None:
    """Keys change by a new root; one that only its own keys signed is refused."""
    first = made.root.to_bytes()
    other = [CryptoSigner.generate_ed25519() for _ in range(2)]
    keys = [key.public_key for key in other]
    mine = new_root(read(Root, first).signed, {"root": keys}, {}, clock(), 365)
    forged = made.sign_root(mine, other)
    with pytest.raises(ForbiddenError, match="root 2: not signed by enough keys"):
        made.signer().sign([first, forged], made.targets.to_bytes())
    good = made.sign_root(mine, made.root_keys[1:])
    made.signer().sign([first, good], made.targets.to_bytes())
    assert made.signer().sign([first], made.targets.to_bytes()), "it remembers the newer root"


def test_another_first_root_is_not_trusted(made: Ceremony, tmp_path: Path, clock: Clock) -> None:
    """Who starts the signer with another root than at first is told so."""
    signer = made.signer()
    other = Ceremony(tmp_path / "other", clock)
    with pytest.raises(ConflictError, match="another first root"):
        signer.trust(other.root.to_bytes())


def test_without_a_root_it_signs_nothing(made: Ceremony, clock: Clock) -> None:
    """Whoever asks first must not decide whom to trust."""
    signer = Signer(made.folder / "signer", clock)
    with pytest.raises(SettingError, match="--root"):
        signer.sign([made.root.to_bytes()], made.targets.to_bytes())


def test_what_is_no_metadata_is_refused(made: Ceremony) -> None:
    """Anything may come over the socket."""
    signer, root = made.signer(), made.root.to_bytes()
    for data in (b"", b"{}", b"[" * 1000, b'{"signed": {"_type": "targets"}}', root):
        with pytest.raises(FormatError):
            signer.sign([root], data)


def test_a_key_that_others_may_read_is_not_used(tmp_path: Path) -> None:
    """The file mode is the fence around a key."""
    folder = tmp_path / "keys"
    make_keys(folder)
    (folder / "snapshot.pem").chmod(0o640)
    with pytest.raises(SettingError, match="other users can read it"):
        Signer(folder, Clock())


def test_no_other_user_reads_the_keys(tmp_path: Path) -> None:
    """Managers are other users: they get an answer by the socket, and no key by the disk."""
    folder = tmp_path / "keys"
    make_keys(folder)
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    keys = sorted(folder.glob("*.pem"))
    assert [path.name for path in keys] == ["snapshot.pem", "timestamp.pem"]
    assert {stat.S_IMODE(path.stat().st_mode) for path in keys} == {0o600}
    folder.chmod(0o750)
    with pytest.raises(SettingError, match="other users can read it"):
        make_keys(folder)


def test_a_persons_key_needs_its_passphrase(tmp_path: Path) -> None:
    """A stolen file alone signs nothing, and no key is written over."""
    path = tmp_path / "anna.pem"
    public = write_key(path, "correct horse")
    assert read_key(path, "correct horse").public_key.keyid == public.keyid
    with pytest.raises(SettingError, match="passphrase"):
        read_key(path, "battery")
    with pytest.raises(ConflictError):
        write_key(path, "correct horse")
