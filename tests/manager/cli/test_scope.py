"""`prsm scope` and `/api/v1/scope` with rules by language and country."""

from __future__ import annotations

import json
from pathlib import Path

from manager.operations.hosts.host_countries import CountryFileFacts, record_file, settle_all
from tests.manager.cli.conftest import Prsm
from tests.manager.running import Running, look_up

RULES = "include *.jp\nexclude language:de\ninclude language:ja\n"


def rules(folder: Path, text: str) -> str:
    """Return the path of a file with rules."""
    path = folder / "rules.txt"
    path.write_text(text)
    return str(path)


def test_a_url_is_tried_with_a_language(prsm: Prsm, tmp_path: Path) -> None:
    """The answer says what it depends on."""
    prsm("scope", "set", rules(tmp_path, RULES))
    said = prsm("scope", "try", "www.example.com").stdout
    assert "is inside, by line 3: include language:ja" in said
    assert "language of the page that links to it may decide otherwise: --language" in said
    german = prsm("scope", "try", "www.example.com", "--language", "de").stdout
    assert "is outside, by line 2: exclude language:de" in german
    found = json.loads(prsm("scope", "try", "x.com", "--language", "ja", "--json").stdout)
    assert (found["language"], found["depends_on"]) == ("ja", [])
    assert "xx1: no language" in prsm("scope", "try", "x.com", "--language", "xx1", code=1).stderr


def test_bad_codes_are_refused_with_their_lines(prsm: Prsm, tmp_path: Path) -> None:
    """And nothing changes."""
    for text, said in (
        ("include *.jp\nexclude language:xx1\n", "line 2: language:xx1: no language"),
        ("include country:ZZ\n", "line 1: country:ZZ: no country"),
        ("include country:JP\n", "line 1: country:JP: no database of countries is in use"),
    ):
        for more in ((), ("--preview",)):
            assert said in prsm("scope", "set", rules(tmp_path, text), *more, code=1).stderr
    assert json.loads(prsm("scope", "show", "--json").stdout)["version"] == 0


def test_countries_are_shown_with_their_file(prsm: Prsm, manager: Running, tmp_path: Path) -> None:
    """Of the database, and of a host."""
    db = manager.manager.db
    prsm("hosts", "import", "--no-wait", "-", stdin="a.example\nb.example\n")
    look_up(manager)
    record_file(db, CountryFileFacts("/a/c.mmdb", "1", "Test-Country", 0, None), manager.clock())
    assert "# countries: c.mmdb (Test-Country), being applied" in prsm("scope", "show").stdout
    settle_all(db, lambda _: "US", manager.clock())
    prsm("scope", "set", rules(tmp_path, "include country:JP\n"))
    shown = json.loads(prsm("scope", "show", "--json").stdout)
    assert shown["outside"] == 2
    assert shown["countries"]["kind"] == "Test-Country"
    said = prsm("scope", "try", "a.example").stdout
    assert "is outside, by default exclude" in said
    assert "countries of its host: US" in said
    assert "are not known" in prsm("scope", "try", "new.example").stdout


def test_what_is_shown_can_be_set_again(prsm: Prsm, tmp_path: Path) -> None:
    """A line a rule, with the comments; nothing is made singular or plural."""
    text = "# 1 hosts of the ministry\ninclude *.jp depth=9\n\n\texclude re:/calendar/\n"
    prsm("scope", "set", rules(tmp_path, text))
    shown = prsm("scope", "show").stdout
    assert "# 1 hosts of the ministry\ninclude *.jp depth=9\n\n exclude re:/calendar/\n" in shown
    prsm("scope", "set", rules(tmp_path, shown))
    assert json.loads(prsm("scope", "show", "--json").stdout)["outside"] == 0
    assert "by line 3: include *.jp" in prsm("scope", "try", "www.example.jp").stdout
