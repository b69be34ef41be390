"""Texts with a form of their own that both programs take."""

from __future__ import annotations

import pytest

from shared.errors import SettingError
from shared.settings import check_network, name_server


def test_name_servers() -> None:
    """The port may be left out; IPv6 stands in brackets when there is one."""
    assert name_server("127.0.0.1:5353", "x") == ("127.0.0.1", 5353)
    assert name_server("133.9.1.1", "x") == ("133.9.1.1", 53)
    assert name_server("[::1]:5353", "x") == ("::1", 5353)
    assert name_server("2400::1", "x") == ("2400::1", 53)
    assert name_server("[::1]", "x") == ("::1", 53)


@pytest.mark.parametrize("text", ["", "ns.example", "127.0.0.1:", "127.0.0.1:0", "1:2"])
def test_what_is_no_name_server_is_refused(text: str) -> None:
    """The sentence names the setting, and shows how it is written."""
    with pytest.raises(SettingError, match=r"group\.servers has .* as 127.0.0.1:5353"):
        name_server(text, "group.servers")


def test_networks() -> None:
    """A range is written without host bits."""
    check_network("10.0.0.0/8", "group.ranges")
    with pytest.raises(SettingError, match=r"group\.ranges has .* write it as 127.0.0.0/8"):
        check_network("10.0.0.1/8", "group.ranges")
