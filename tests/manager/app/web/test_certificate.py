"""The manager's certificate: what a greeting is answered with, before and after it is renewed."""

from __future__ import annotations

import contextlib
import ssl
from datetime import timedelta
from pathlib import Path

import pytest
from cryptography import x509

from manager.app.web.certificate import Certificate
from shared.errors import SettingError
from tests.manager.certificates import write_certificate, write_key

VERSIONS = (ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3)
DAY_MS = round(timedelta(days=1).total_seconds() * 1000)


def served_name(
    certificate: Certificate, trusted: Path, version: ssl.TLSVersion, asked: str | None = None
) -> str:
    """Greet as a client that trusts one certificate; return the name in what is answered."""
    trusting = ssl.create_default_context(cafile=str(trusted))
    trusting.check_hostname = False
    trusting.maximum_version = version
    to_client, from_client = ssl.MemoryBIO(), ssl.MemoryBIO()
    to_server, from_server = ssl.MemoryBIO(), ssl.MemoryBIO()
    client = trusting.wrap_bio(to_client, from_client, server_hostname=asked)
    server = certificate.context.wrap_bio(to_server, from_server, server_side=True)
    for _ in range(6):
        for side in (client, server):
            with contextlib.suppress(ssl.SSLWantReadError):
                side.do_handshake()
        to_server.write(from_client.read())
        to_client.write(from_server.read())
    answered = client.getpeercert(binary_form=True)
    assert answered is not None
    (name,) = x509.load_der_x509_certificate(answered).subject
    return str(name.value)


@pytest.fixture
def paths(tmp_path: Path) -> tuple[Path, Path]:
    certificate, key = tmp_path / "cert.pem", tmp_path / "key.pem"
    write_key(key, write_certificate(certificate, "first", days=2))
    return certificate, key


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("asked", [None, "prsm.example.org"])
def test_a_renewed_certificate_is_served_without_a_restart(
    paths: tuple[Path, Path], version: ssl.TLSVersion, asked: str | None
) -> None:
    """Also to who asks for no name, as agents do that know an address; and its end is told."""
    served = Certificate(*paths)
    assert served_name(served, paths[0], version, asked) == "first"
    before = served.expiry()
    assert before.until_ms is not None
    assert not served.refresh()
    write_key(paths[1], write_certificate(paths[0], "second", days=92))
    assert served.expiry() == before, "what is served counts, not what lies on the disk"
    assert served.refresh()
    assert served_name(served, paths[0], version, asked) == "second"
    after = served.expiry()
    assert after.until_ms is not None
    assert round((after.until_ms - before.until_ms) / DAY_MS) == 90
    assert after.problem is None


@pytest.mark.parametrize("what", ["other key", "no certificate", "no file"])
def test_what_cannot_be_loaded_is_told_and_not_served(
    paths: tuple[Path, Path], tmp_path: Path, what: str
) -> None:
    """The one before is served on; when the files are mended, nothing more is told."""
    served, first = Certificate(*paths), tmp_path / "first.pem"
    first.write_bytes(paths[0].read_bytes())
    if what == "other key":
        key = write_certificate(paths[0], "second")
    elif what == "no certificate":
        paths[0].write_text("renewed tomorrow")
    else:
        paths[0].unlink()
    assert not served.refresh()
    assert served_name(served, first, ssl.TLSVersion.TLSv1_3) == "first"
    problem = served.expiry().problem
    assert problem is not None
    assert problem.code == "alerts.certificate_not_loaded"
    if what == "other key":
        write_key(paths[1], key)
        assert served.refresh()
    else:
        paths[0].write_bytes(first.read_bytes())
        served.refresh()
    assert served.expiry().problem is None


def test_a_manager_does_not_begin_with_what_it_cannot_serve(paths: tuple[Path, Path]) -> None:
    """The settings are named; a key with a password asks nobody at the terminal."""
    key = write_certificate(paths[0], "second")
    write_key(paths[1], key, b"secret")
    with pytest.raises(SettingError, match=r"server\.tls_key = .* without a password"):
        Certificate(*paths)
