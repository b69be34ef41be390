"""What doctor and enrolment say where something is in the way to the manager."""

from __future__ import annotations

import asyncio
import json
import platform
import socket
import ssl
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path

import pytest
from click.testing import CliRunner
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from agent.app.site import diagnosis
from agent.app.site.network_checks import check_page_route
from agent.cli import main
from agent.control.doctor import Check
from agent.settings import Home, Settings
from agent.settings.groups.dns import DnsSettings
from agent.settings.groups.manager import ManagerSettings
from agent.settings.groups.network import NetworkSettings
from agent.settings.groups.robot import RobotSettings
from shared.messages import Message
from tests.e2e.name_server import running_name_server
from tests.e2e.nginx import make_certificate
from tests.e2e.raw_server import RawServer
from tests.programs import program

NO_CODE = Message("general.native_missing", machine="riscv64")
pytestmark = pytest.mark.e2e


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Settings:
    """An enrolled home whose manager has no address; no name server is asked."""
    home = Home(tmp_path / "prs")
    home.make()
    home.key.write_text(
        json.dumps(
            {
                "manager": "https://prsm.invalid",
                "name": "prs1",
                "key": "secret-key",
                "token_hash": "t",
            }
        )
    )
    home.key.chmod(0o600)

    async def answers(_: Settings, __: str = "", *, trial: bool = False) -> Check:
        return Check("name servers", Message("doctor.names_of_machine"))

    monkeypatch.setattr(diagnosis, "_name_servers", answers)
    return Settings(
        home=home.path,
        robot=RobotSettings(contact="a@example.org"),
        dns=DnsSettings(servers=("127.0.0.1:1",)),
    )


def look(site: Settings) -> dict[str, Check]:
    return {check.name: check for check in asyncio.run(diagnosis.diagnose(site))}


def test_a_manager_without_an_address(site: Settings) -> None:
    """The name is said with what to check; all that could be looked at is good."""
    checks = look(site)
    assert "prsm.invalid has no address" in str(checks["manager"].said)
    assert "manager.url" in str(checks["manager"].remedy)
    assert [name for name, check in checks.items() if not check.passed] == ["manager"]


def test_by_what_pages_are_read(site: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine that reads them in Python is told why that costs more; it is no fault."""
    assert str(look(site)["pages"].said) == f"read by code compiled for {platform.machine()}"
    monkeypatch.setattr(diagnosis, "absence_reason", lambda: NO_CODE)
    assert str(look(site)["pages"].said).endswith("time: no code was compiled for riscv64")
    assert look(site)["pages"].passed


def test_tls_that_a_firewall_opens(site: Settings, tmp_path: Path) -> None:
    """A certificate that nobody here trusts is said with the setting that helps."""
    program("openssl")
    key, certificate = make_certificate(tmp_path)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    answer = (
        b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\nDate: Sun, 22 Nov 2026 10:00:00 GMT\r\n\r\n"
        b"CONTINUE\n"
    )
    own = Home(site.home).key

    async def looks() -> list[dict[str, Check]]:
        found = []
        async with RawServer(answer, tls=context) as server:
            said = json.loads(own.read_text())
            own.write_text(json.dumps({**said, "manager": f"https://127.0.0.1:{server.port}"}))
            for ca_file in ("", str(certificate)):
                there = replace(site, manager=ManagerSettings(ca_file=ca_file))
                checks = await diagnosis.diagnose(there)
                found.append({check.name: check for check in checks})
        return found

    opened, trusted = asyncio.run(looks())
    assert "CERTIFICATE" in str(opened["manager"].said).upper()
    assert "set manager.ca_file" in str(opened["manager"].remedy)
    assert str(trusted["manager"].said).endswith("answers, its certificate is trusted")
    assert (trusted["manager"].passed, trusted["key"].passed) == (True, True)
    assert "clock" in trusted


def test_a_name_server_that_is_not_there(tmp_path: Path) -> None:
    """Without one nothing is found: it is said which were asked, and what to set."""
    there = Settings(home=tmp_path, dns=DnsSettings(servers=("127.0.0.1:1",)))
    check = asyncio.run(diagnosis._name_servers(there))
    assert not check.passed
    assert str(check.said).startswith("127.0.0.1:1: ")
    assert "dns.servers" in str(check.remedy)


@pytest.mark.parametrize(
    ("name", "said", "good"),
    [
        ("dual.example", "133.9.1.2, 2400::1", True),
        ("nxdomain.example", "no such name (NXDOMAIN)", False),
        ("nothing.example", "the name has no address", False),
        ("servfail.example", "the name server failed (SERVFAIL)", False),
        ("refused.example", "the name server refuses to answer (REFUSED)", False),
        ("both.example", "10.0.0.1, 133.9.1.1", True),
    ],
)
def test_what_name_servers_answer_is_told_apart(
    tmp_path: Path, name: str, said: str, good: bool
) -> None:
    """An answer without an address finds no host; the page's way says the same as the crawl."""
    with running_name_server() as (server, _):
        # Nothing may leave this machine: the source address is one that leads nowhere else.
        there = Settings(
            home=tmp_path,
            dns=DnsSettings(servers=(server,)),
            network=NetworkSettings(proxy="" if not good else "http://127.0.0.1:1"),
        )
        check = asyncio.run(diagnosis._name_servers(there, name))
        page = way(there, "", f"http://{name}/a")
    assert str(check.said).startswith(f"{server}: {name}")
    assert said in str(check.said)
    assert check.passed == good
    if not good:
        assert "dns.servers" in str(check.remedy)
        assert str(page.said).startswith(f"{name} is not reached without a proxy: ")
        assert "dns.servers" in str(page.remedy)
    assert not page.passed


def test_a_trial_may_be_in_a_closed_network(tmp_path: Path) -> None:
    """Beside a manager on this machine, names of the Internet need not be known."""
    with running_name_server() as (server, _):
        there = Settings(home=tmp_path, dns=DnsSettings(servers=(server,)))
        asked = {
            trial: asyncio.run(diagnosis._name_servers(there, "nxdomain.example", trial=trial))
            for trial in (True, False)
        }
    assert asked[True].passed
    assert "no such name (NXDOMAIN); the manager is this machine" in str(asked[True].said)
    assert not asked[False].passed


@pytest.mark.parametrize("manager", ["http://127.0.0.1:8000", "https://prsm.invalid"])
def test_a_trial_is_beside_its_manager(site: Settings, manager: str) -> None:
    """As the key says where the agent is enrolled."""
    key = Home(site.home).key
    key.write_text(json.dumps(json.loads(key.read_text()) | {"manager": manager}))
    assert diagnosis._is_trial(site) == ("127" in manager)


def test_a_name_server_that_keeps_silent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No answer in time is neither a no nor a refusal."""
    monkeypatch.setattr(diagnosis, "LOOK_UP_S", 0.2)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as silent:
        silent.bind(("127.0.0.1", 0))
        server = f"127.0.0.1:{silent.getsockname()[1]}"
        there = Settings(home=tmp_path, dns=DnsSettings(servers=(server,)))
        check = asyncio.run(diagnosis._name_servers(there))
    assert "no answer from a name server in time" in str(check.said)
    assert "check the network" in str(check.remedy)


def test_the_way_to_a_page_goes_by_the_names_of_the_crawl(tmp_path: Path) -> None:
    """`dns.servers` finds the page's host; the system's name servers do not know it."""

    async def looks() -> tuple[Check, list[bytes]]:
        async with RawServer(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n") as server:
            page = f"http://127.0.0.1.inside.example:{server.port}/"
            return await check_page_route(there, "", page), server.requests

    with running_name_server() as (server, _):
        dns = DnsSettings(servers=(server,), allowed_networks=("127.0.0.0/8",))
        there = Settings(home=tmp_path, dns=dns)
        check, requests = asyncio.run(looks())
    assert str(check.said) == "127.0.0.1.inside.example answers without a proxy"
    assert b"Host: 127.0.0.1.inside.example:" in requests[0]


def test_a_proxy_looks_names_up_itself(tmp_path: Path) -> None:
    """A site whose name servers know only its own names crawls all the same."""
    with running_name_server() as (server, _):
        there = Settings(
            home=tmp_path,
            dns=DnsSettings(servers=(server,)),
            network=NetworkSettings(proxy="http://127.0.0.1:1"),
        )
        check = asyncio.run(diagnosis._name_servers(there, "nxdomain.example"))
    assert "no such name (NXDOMAIN); the proxy looks names up" in str(check.said)
    assert check.passed


def test_no_password_is_shown(site: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    """A proxy's user and password stay out of what partners paste into mails; so does the key."""
    for proxy in ("http://user:pa55@proxy.invalid:8080", "http://proxy.invalid:8080"):
        asked = replace(site, manager=ManagerSettings(proxy=proxy))
        assert str(look(asked)["proxy"].said) == "http://proxy.invalid:8080"
    monkeypatch.setenv("HTTPS_PROXY", "http://user:pa55@proxy.invalid:8080")
    checks = look(site)
    assert str(checks["proxy"].said).startswith("http://proxy.invalid:8080, from this shell")
    assert "pa55" not in str(checks)
    assert "secret-key" not in str(checks)


def test_an_address_that_is_not_ours(site: Settings) -> None:
    """Requests cannot leave from another machine's address."""
    other = replace(site, network=NetworkSettings(source_address="192.0.2.1"))
    assert "network.source_address" in str(look(other)["source"].remedy)
    own = replace(site, network=NetworkSettings(source_address="127.0.0.1"))
    assert look(own)["source"].passed


def test_enrolment_without_a_manager(tmp_path: Path) -> None:
    """Exit code 3, the place and what to look at; no key is made before the way is good."""
    home = Home(tmp_path / "prs")
    words = ["--home", str(home.path), "enrol", "http://127.0.0.1:1/", "--name", "prs1"]
    result = CliRunner().invoke(main, words, input="token")
    assert result.exit_code == 3
    assert "http://127.0.0.1:1 cannot be reached" in result.stderr
    assert "check the network, the firewall, manager.url and manager.proxy" in result.stderr
    assert not home.new_key.exists()
    assert not home.key.exists()


LOOPBACK = x509.IPAddress(ip_address("127.0.0.1"))


def certificate_of(folder: Path, first: datetime, last: datetime) -> Path:
    """Make a certificate of loopback, with its key in the same file."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "loopback")])
    made = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
        .not_valid_before(first)
        .not_valid_after(last)
        .add_extension(x509.SubjectAlternativeName([LOOPBACK]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    path = folder / f"{first:%Y}.pem"
    path.write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
        + made.public_bytes(serialization.Encoding.PEM)
    )
    return path


@pytest.mark.parametrize("years", [-3, 2])
def test_a_clock_that_is_wrong(site: Settings, tmp_path: Path, years: int) -> None:
    """A certificate that is not valid yet, or any more, is no firewall that opens TLS."""
    first = datetime.now(UTC) + timedelta(days=365 * years)
    last = first + timedelta(days=365)
    path = certificate_of(tmp_path, first, last)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(path)
    own = Home(site.home).key

    async def looks() -> tuple[dict[str, Check], list[bytes]]:
        async with RawServer(b"HTTP/1.1 204 No\r\n\r\n", tls=context) as server:
            said = json.loads(own.read_text())
            own.write_text(json.dumps({**said, "manager": f"https://127.0.0.1:{server.port}"}))
            there = replace(site, manager=ManagerSettings(ca_file=str(path)))
            checks = await diagnosis.diagnose(there)
            return {check.name: check for check in checks}, server.requests

    checks, requests = asyncio.run(looks())
    said = checks["manager"]
    assert "CERTIFICATE" in str(said.said).upper()
    assert f"this machine's clock shows {datetime.now(UTC):%Y-}" in str(said.said)
    assert f"valid from {first:%Y-%m-%d} to {last:%Y-%m-%d}" in str(said.said)
    assert "if the clock is wrong, set it" in str(said.remedy)
    assert "ca_file" not in str(said.remedy)
    assert b"secret-key" not in b"".join(requests)


def way(site: Settings, manager: str, page: str = "") -> Check:
    return asyncio.run(check_page_route(site, manager, page))


def test_the_way_to_pages_without_a_proxy(site: Settings) -> None:
    """The manager's host by default, never another; a site of the person's choice."""
    assert "not tried, because the manager is this machine" in str(
        way(site, "http://127.0.0.1:1").said
    )
    assert "not tried, because the manager is not reached" in str(way(site, "").said)
    assert look(site)["way to pages"].passed

    async def looks() -> tuple[Check, list[bytes]]:
        async with RawServer(b"HTTP/1.1 404 No\r\nContent-Length: 0\r\n\r\n") as server:
            url = f"http://127.0.0.1:{server.port}/a?b"
            refused = await check_page_route(site, "", url)
            assert not server.requests, "the crawl would not go there"
            assert "127.0.0.0/8 (loopback), which is not crawled" in str(refused.said)
            assert "dns.allowed_networks" in str(refused.remedy)
            dns = replace(site.dns, allowed_networks=("127.0.0.0/8",))
            return await check_page_route(replace(site, dns=dns), "", url), server.requests

    check, requests = asyncio.run(looks())
    assert (str(check.said), check.passed) == ("127.0.0.1 answers without a proxy", True)
    assert requests[0].startswith(b"GET /robots.txt HTTP/1.1\r\n")
    assert b"a@example.org" in requests[0]
    closed = way(site, "https://prsm.invalid")
    assert str(closed.said).startswith("prsm.invalid is not reached without a proxy: ")
    assert "set network.proxy" in str(closed.remedy)
    for url in ("www.example.org", "ftp://www.example.org", "http://"):
        assert "is no URL" in str(way(site, "", url).said)


@pytest.mark.parametrize("scheme", ["http", "https"])
@pytest.mark.parametrize("status", [407, 502])
def test_the_way_to_pages_through_a_proxy(site: Settings, scheme: str, status: int) -> None:
    """What the proxy says to CONNECT; of plain HTTP also what may be the site's answer."""
    answer = f"HTTP/1.1 {status} No\r\nContent-Length: 0\r\n\r\n".encode()

    async def looks() -> tuple[Check, list[bytes]]:
        async with RawServer(answer) as server:
            proxy = f"http://me:pa55@127.0.0.1:{server.port}"
            there = replace(site, network=replace(site.network, proxy=proxy))
            return await check_page_route(there, f"{scheme}://prsm.invalid"), server.requests

    check, requests = asyncio.run(looks())
    asked = b"CONNECT prsm.invalid:443 " if scheme == "https" else b"GET http://prsm.invalid/robots"
    assert requests[0].startswith(asked)
    assert b"authorization: Basic" in requests[0].replace(b"Authorization", b"authorization")
    assert "through http://127.0.0.1:" in str(check.said)
    assert "pa55" not in str(check.said)
    assert not check.passed
    assert "network.proxy" in str(check.remedy)


def test_a_proxy_that_is_not_there(site: Settings) -> None:
    """Said with the setting, whether or not the manager is reached without it."""
    there = replace(site, network=replace(site.network, proxy="http://127.0.0.1:1"))
    check = way(there, "https://prsm.invalid")
    assert "prsm.invalid is not reached through http://127.0.0.1:1" in str(check.said)
    assert "check network.proxy" in str(check.remedy)
