"""The page of the scope: a URL with a language, and the database of countries."""

from __future__ import annotations

from manager.operations.hosts.crawl_scope import set_scope
from manager.operations.hosts.host_countries import CountryFileFacts, record_file, settle_all
from shared.messages import Message
from tests.manager.console.conftest import Visitor
from tests.manager.console.filled import HOSTS
from tests.manager.console.markup import read
from tests.manager.running import LOCAL, Running

RULES = "include *.jp\nexclude language:de\ninclude language:ja"
URL = "/console/scope?url=www.example.com"


def test_a_url_is_tried_with_a_language(prsm: Running, person: Visitor) -> None:
    """Without one the page says that it decides; an unknown one is named."""
    set_scope(prsm.manager.db, RULES, "", LOCAL, prsm.clock())
    unknown = read(person("viewer").get(URL).text).text
    assert "include language:ja" in unknown
    assert "language of the page that links to it may decide otherwise" in unknown
    german = read(person("viewer").get(f"{URL}&language=de").text).text
    assert "exclude language:de" in german
    assert "may decide otherwise" not in german
    assert "xx1: no language" in read(person("viewer").get(f"{URL}&language=xx1").text).text


def test_the_database_of_countries_is_shown(prsm: Running, person: Visitor) -> None:
    """With what is wrong with it, and the countries of a host."""
    db = prsm.manager.db
    assert "Database of countries" not in read(person("viewer").get("/console/scope").text).text
    record_file(db, CountryFileFacts("/a/c.mmdb", "1", "Test-Country", 0, None), prsm.clock())
    waiting = read(person("viewer").get("/console/scope").text).text
    assert "c.mmdb (Test-Country" in waiting
    assert "still being looked up" in waiting
    settle_all(db, lambda _: "JP", prsm.clock())
    tried = read(person("viewer").get(f"/console/scope?url={HOSTS[5]}").text).text
    assert "Countries of its host: JP" in tried
    broken = CountryFileFacts("/a/c.mmdb", "1", "", None, Message("naming.mmdb_damaged"))
    record_file(db, broken, prsm.clock())
    assert "not a whole one" in read(person("viewer").get("/console/scope").text).text
