"""Signed files come by forms: the first, without a release, and signed anew; keys never do."""

from __future__ import annotations

from pathlib import Path

import httpx
import pytest

from manager.operations.people.audit_log import audit_page
from manager.releases.signed_metadata import signed_anew
from manager.signing.client import SigningClient
from tests.ceremony import Ceremony
from tests.manager.console.browser import Browser
from tests.manager.console.conftest import Visitor
from tests.manager.console.markup import read
from tests.manager.running import Running

BODY = b"a release"


@pytest.fixture
def keys(prsm: Running, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Ceremony:
    """Return keys of people; a signer that trusts their first root answers the manager."""
    (tmp_path / "keys").mkdir()
    made = Ceremony(tmp_path / "keys", prsm.clock)
    signer = made.signer()
    monkeypatch.setattr(
        SigningClient, "sign", lambda _, roots, targets: signer.sign(roots, targets)
    )
    return made


def begin(keys: Ceremony, person: Visitor) -> None:
    """Give the first signed files, by the form."""
    files = {"root": keys.root.to_bytes().decode(), "targets": keys.targets.to_bytes().decode()}
    form = person("admin").page("/console/releases").form("/console/releases/init")
    assert set(form.fields) >= {"root", "targets"}
    answer = person("admin").act("/console/releases", "/console/releases/init", files)
    assert answer.status_code == 303, answer.text


def publish(keys: Ceremony, prsm: Running, version: str) -> None:
    """Publish a release by the call that the page's form makes."""
    assert prsm.local.post("/api/v1/releases/bundles", content=BODY).status_code == 201
    body = {"targets": keys.with_release(version, BODY).decode()}
    assert prsm.local.post("/api/v1/releases/publish", json=body).status_code == 201


def rotate(browser: Browser, fields: dict[str, str]) -> httpx.Response:
    """Send the form of new signatures."""
    return browser.act("/console/releases", "/console/releases/rotate", fields)


def acts(prsm: Running) -> list[str]:
    """Return what was done of releases, oldest first."""
    rows = audit_page(prsm.manager.db, action="release.")
    return [row.action for row in reversed(rows)]


def test_releases_begin_by_a_form(prsm: Running, keys: Ceremony, person: Visitor) -> None:
    """The page says why no key is here; who may not do it, sees no form but who does."""
    seen = person("operator").page("/console/releases")
    assert "could send a program to every site" in seen.text
    assert "An administrator does this." in seen.text
    assert not [form for form in seen.forms if form.action == "/console/releases/init"]
    wrong = {"root": "no root", "targets": keys.targets.to_bytes().decode()}
    refused = person("admin").act("/console/releases", "/console/releases/init", wrong)
    assert refused.status_code == 400
    assert "no root</textarea>" in refused.text, "what was typed is kept"
    assert keys.targets.to_bytes().decode().splitlines()[0] in read(refused.text).text
    begin(keys, person)
    assert acts(prsm) == ["release.init"]
    page = person("admin").page("/console/releases")
    assert "Releases are not set up yet" not in page.text
    assert "people with root keys" in page.text


def test_a_release_is_taken_away_by_a_form(prsm: Running, keys: Ceremony, person: Visitor) -> None:
    """It is asked about first; targets that still name it are refused, and the field is marked."""
    begin(keys, person)
    publish(keys, prsm, "1.0")
    browser = person("admin")
    still = {"version": "1.0", "targets": keys.targets.to_bytes().decode()}
    asked = read(browser.act("/console/releases", "/console/releases/revoke", still).text)
    refused = browser.submit(asked.form("/console/releases/revoke"))
    assert refused.status_code == 409
    good = {"version": "1.0", "targets": keys.without_release("1.0").decode()}
    asked = read(browser.act("/console/releases", "/console/releases/revoke", good).text)
    assert "it can never be published again" in asked.text
    browser.follow(browser.submit(asked.form("/console/releases/revoke")))
    assert acts(prsm) == ["release.init", "release.publish", "release.revoke"]
    page = browser.page("/console/releases?state=revoked")
    assert "1.0" in page.text
    assert not [form for form in page.forms if form.action == "/console/releases/revoke"]


def test_signatures_are_renewed_by_a_form(prsm: Running, keys: Ceremony, person: Visitor) -> None:
    """Targets signed for another year; nothing at all is refused at its field."""
    begin(keys, person)
    browser = person("admin")
    empty = browser.act(
        "/console/releases", "/console/releases/rotate", {"root": " ", "targets": ""}
    )
    assert empty.status_code == 400
    assert "give signed targets, a signed root or both" in read(empty.text).text
    anew = keys.next_targets(signed_anew(keys.targets, prsm.clock(), 365)).decode()
    answer = browser.act(
        "/console/releases", "/console/releases/rotate", {"root": "", "targets": anew}
    )
    assert answer.status_code == 303, answer.text
    assert acts(prsm) == ["release.init", "release.rotate"]
    served = browser.get("/api/v1/releases/metadata/targets.json")
    assert served.text == anew
    assert "/api/v1/releases/metadata/targets.json" in browser.page("/console/releases").links()
    long = rotate(browser, {"root": "x" * 500_001})
    assert "500,001 characters" in read(long.text).text


def test_a_signer_that_is_away_is_named(prsm: Running, tmp_path: Path, person: Visitor) -> None:
    """Nothing is kept where nobody signs; what was given is kept in the form."""
    (tmp_path / "keys").mkdir()
    made = Ceremony(tmp_path / "keys", prsm.clock)
    files = {"root": made.root.to_bytes().decode(), "targets": made.targets.to_bytes().decode()}
    answer = person("admin").act("/console/releases", "/console/releases/init", files)
    assert answer.status_code == 503
    assert "sign" in read(answer.text).text
    assert acts(prsm) == []
