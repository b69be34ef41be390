"""The folder of a host: the source's sums and the names that may become folders."""

from __future__ import annotations

from pathlib import PurePosixPath

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.archive.sums import MAX_FOLDER_NAME, check_host_port, host_folder, host_sums
from shared.errors import FormatError


def java_sums(server: str) -> tuple[str, str]:
    """Run the source's method with a Java int: signed, 32 bits, wrapping."""
    total = 0
    for char in server:
        total = total * 13 + ord(char)
        total = (total + 2**31) % 2**32 - 2**31

    def to_string(value: int) -> str:
        return ("-" if value < 0 else "") + f"{abs(value):x}"

    return to_string(total & 0xFF00), to_string(total & 0x00FF)


@pytest.mark.parametrize(
    ("host_port", "sums"),
    [
        ("www.etl.go.jp:80", ("6700", "9e")),
        ("", ("0", "0")),
        ("a", ("0", "61")),
        ("aa", ("500", "4e")),
        ("www.waseda.ac.jp:80", ("b400", "70")),
    ],
)
def test_sums_are_those_of_the_source(host_port: str, sums: tuple[str, str]) -> None:
    """Low and high byte of the sum are named in hexadecimal without padding or shift."""
    assert host_sums(host_port) == sums
    assert java_sums(host_port) == sums


@given(st.text(st.characters(max_codepoint=0xFFFF, exclude_categories=["Cs"]), max_size=300))
def test_overflow_of_the_java_int_changes_no_name(host_port: str) -> None:
    """Sums without bound and sums in a wrapping signed int give the same folder."""
    assert host_sums(host_port) == java_sums(host_port)


def test_folder_has_the_layout_of_the_source() -> None:
    """A host lies in html/sumh/suml/host:port."""
    assert host_folder("www.etl.go.jp:80") == PurePosixPath("html/6700/9e/www.etl.go.jp:80")


@pytest.mark.parametrize(
    "host_port",
    ["a:1", "x_y.example.jp:8080", "192.0.2.7:80", "[2001:db8::1]:443", "xn--wgv71a:80"],
)
def test_hosts_of_canonical_urls_have_a_folder(host_port: str) -> None:
    """Names, addresses and punycode with a port are accepted unchanged."""
    assert check_host_port(host_port) == host_port


@pytest.mark.parametrize(
    "host_port",
    [
        "",
        "www.example.jp",
        "www.example.jp:",
        "www.example.jp:0",
        "www.example.jp:080",
        "www.example.jp:65536",
        "www.example.jp:99999999",
        ":80",
        ".:80",
        "..:80",
        "../../etc/passwd:80",
        "a/b:80",
        "a\\b:80",
        "a..b:80",
        ".a:80",
        "a.:80",
        "a\0b:80",
        "a\nb:80",
        "a b:80",
        "a:80\n",
        "WWW.example.jp:80",
        "日本.jp:80",
        "a:80:80",
        "a:80/x",
        "[::1:80",
        "[..]:80",
        "[]:80",
        "[1:2]:80",
        "[fe80::1%eth0]:80",
        "a" * 64 + ":80",
        ".".join(["a" * 60] * 5) + ":80",
    ],
)
def test_hostile_hosts_become_no_folder(host_port: str) -> None:
    """A name that could leave html/ or that DNS does not know is refused and shown."""
    with pytest.raises(FormatError, match="host '"):
        host_folder(host_port)


@given(st.text(max_size=40))
def test_an_accepted_folder_never_leaves_html(host_port: str) -> None:
    """Whatever is accepted is one path component of bounded length below html/."""
    try:
        folder = host_folder(host_port)
    except FormatError:
        return
    assert len(folder.parts) == 4
    assert folder.parts[0] == "html"
    assert ".." not in folder.parts
    assert len(folder.name.encode()) <= MAX_FOLDER_NAME
