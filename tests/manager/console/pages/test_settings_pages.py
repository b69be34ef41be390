"""Settings, what all agents keep to, and tokens, in the browser."""

from __future__ import annotations

from pathlib import Path

import pytest

from manager.console.messages.setting_values import ShownValue, shown_setting
from manager.operations.fleet.fleet_rules import fleet_rules_of
from manager.operations.people.api_tokens import Holder, list_tokens
from manager.operations.people.audit_log import audit_page
from manager.settings import SettingLine, read_settings
from shared.errors import SettingError
from tests.manager.asgi import Caller
from tests.manager.console.browser import Browser
from tests.manager.console.conftest import Visitor
from tests.manager.console.filled import SCRIPT
from tests.manager.console.markup import read
from tests.manager.running import Running, running

ADMIN = Holder("user", "admin", "admin", "")


def _last(prsm: Running) -> tuple[str, str]:
    (row,) = audit_page(prsm.manager.db, limit=1)
    return row.actor_name, row.action


def test_settings_are_shown_with_default_and_meaning(prsm: Running, person: Visitor) -> None:
    """Filters by name, group and what was changed; the managers stand above."""
    browser = person("viewer")
    page = browser.page("/console/settings?q=permit_s")
    assert "how long an agent may crawl without the manager" in page.text
    assert "policy.grace_s" not in page.text
    changed = browser.page("/console/settings?show=changed").text
    assert "limits.reserve_bytes" in changed
    assert "limits.log_bytes" not in changed
    assert browser.get("/console/settings?sort=x").status_code == 400
    assert "policy.permit_s" in browser.get("/console/settings.csv?group=policy").text
    assert "leads" in browser.page("/console/settings").text
    line = page.text.replace("\u00a0", " ").partition("policy.permit_s")[2]
    assert all(said in line for said in ("2 h", "7200.0", "the same", "10 s to 1 d"))


def test_settings_are_explained_in_japanese(person: Visitor) -> None:
    """And are found by words of it."""
    path = "/console/settings?q=収集を続けられる"
    page = read(person("viewer").get(path, **{"Accept-Language": "ja"}).text)
    assert "管理サーバと通信できないロボットが、収集を続けられる時間" in page.text
    assert "policy.permit_s" in page.text
    assert "policy.grace_s" not in page.text


@pytest.mark.parametrize(
    ("written", "unit", "said"),
    [
        ("21600.0", "s", "6 h"),
        ("20.0", "s", "20 s"),
        ("0.0", "s", "0 s"),
        ("0.25", "s", "250 ms"),
        ("21.0", "days", "21 d"),
        ("0.5", "days", "12 h"),
        ("5000000000", "bytes", "5.00 GB"),
        ("100", "bytes/s", "100 B/s"),
        ('""', "URL", "none"),
        ("[]", "networks", "none"),
        ("8000", "port", ""),
        ("false", "yes/no", ""),
        ('["a"]', "networks", ""),
    ],
)
def test_values_are_said_as_people_read_them(written: str, unit: str, said: str) -> None:
    """Times and sizes in their units, nothing as none; what TOML writes stands beside it."""
    shown = shown_setting(_setting(written, written, unit))
    assert (shown.value.said.replace("\u00a0", " "), shown.value.written) == (said, written)
    assert shown.default is None


def test_ranges_and_defaults_are_in_the_same_units() -> None:
    """A fraction keeps its point; a secret is not shown, its default is."""
    for unit, least, most, said in (
        ("s", 1, 3600, "1 s to 1 h"),
        ("bytes", 1000, 10**9, "1.00 KB to 1.00 GB"),
        ("times", 1.5, 10**6, "1.5 to 1,000,000"),
        ("hosts", 1, None, ""),
    ):
        shown = shown_setting(_setting("7", "60", unit, least, most))
        assert shown.allowed.replace("\u00a0", " ") == said
        assert shown.default is not None
    secret = shown_setting(_setting("set, not shown", '""', "text", secret=True))
    assert (secret.value, secret.default) == (
        ShownValue("set, not shown", ""),
        ShownValue("none", '""'),
    )


def _setting(
    written: str,
    default: str,
    unit: str,
    least: float | None = None,
    most: float | None = None,
    *,
    secret: bool = False,
) -> SettingLine:
    return SettingLine("group.name", written, default, unit, least, most, "it is", "", secret)


def test_the_block_list_is_tried_before_it_is_used(prsm: Running, person: Visitor) -> None:
    """By one expression, then by the list; what is none is said with place and remedy."""
    browser = person("operator")
    path = "/console/fleet-rules"
    tried = browser.page(f"{path}?url=www.example.jp/private/x&pattern=/private/")
    assert "Blocked: http://www.example.jp/private/x" in tried.text
    assert "Not blocked:" in browser.page(f"{path}?url=www.example.jp/private/x").text
    assert "is no RE2: missing" in browser.page(f"{path}?url=a.example&pattern=(").text
    assert "only http and https" in browser.page(f"{path}?url=ftp://a.example/").text
    refused = browser.act(path, f"{path}/block", {"text": "/private/\n(b", "reason": SCRIPT})
    assert refused.status_code == 400
    page = read(refused.text)
    assert "line 2: '(b' is no RE2" in page.text
    assert page.form(f"{path}/block").fields["text"].strip() == "/private/\n(b"
    assert fleet_rules_of(prsm.manager.db).blocked == []
    browser.follow(browser.act(path, f"{path}/block", {"text": "/private/", "reason": SCRIPT}))
    assert _last(prsm) == ("operator", "fleet.block")
    tried = browser.page(f"{path}?url=www.example.jp/private/x")
    assert "line 1: /private/" in tried.text
    assert "/private/" in browser.get(f"{path}.csv").text
    sorted_page = f"{path}?q=private&sort=-added"
    asked = browser.act(sorted_page, f"{path}/unblock")
    question = read(asked.text)
    assert "Remove this line from the block list?" in question.text
    done = browser.submit(question.form(f"{path}/unblock"))
    assert done.headers["location"] == sorted_page
    assert fleet_rules_of(prsm.manager.db).blocked == []


def test_limits_of_politeness_are_set(prsm: Running, person: Visitor) -> None:
    """An empty field is no limit; nonsense is refused."""
    browser = person("operator")
    path = "/console/fleet-rules"
    changes = {"interval_s": "30", "parallel_hosts": "", "kbytes_per_s": "500"}
    asked = browser.act(path, f"{path}/limits", changes)
    question = read(asked.text)
    assert "Set these limits for the whole fleet?" in question.text
    assert "Maximum KB/s of an agent: 500" in question.text
    assert fleet_rules_of(prsm.manager.db).limits.interval_s is None
    browser.follow(browser.submit(question.form(f"{path}/limits")))
    limits = fleet_rules_of(prsm.manager.db).limits
    assert (limits.interval_s, limits.parallel_hosts, limits.bytes_per_s) == (30, None, 500_000)
    for wrong in ({"interval_s": "x"}, {"interval_s": "-1"}, {"kbytes_per_s": "1e300"}):
        assert browser.act(path, f"{path}/limits", wrong).status_code == 400
    viewer = person("viewer")
    assert viewer.post(f"{path}/limits", {"csrf": viewer.csrf}).status_code == 403
    assert "Politeness" in viewer.page(path).text


def test_a_token_is_made_shown_once_and_revoked(prsm: Running, person: Visitor) -> None:
    """Of a role at most one's own; another person's cannot be ended."""
    browser, path = person("operator"), "/console/tokens"
    page = browser.page(path)
    assert 'value="admin"' not in page.text
    made = browser.submit(page.form(path), name="nightly", role="operator", days="30")
    assert made.status_code == 201
    token = next(word for word in read(made.text).text.split() if word.startswith("prsm_"))
    caller = Caller(prsm.public, headers={"Authorization": f"Bearer {token}"})
    assert caller.get("/api/v1/session").json()["name"] == "operator/nightly"
    assert token not in browser.page(path).text
    assert "nightly" in browser.page(path).text
    stronger = browser.submit(page.form(path), name="x", role="admin", days="30")
    assert stronger.status_code == 403
    assert "no more than its user" in read(stronger.text).text
    wrong = browser.submit(page.form(path), name="x", role="viewer", days="1e9")
    assert wrong.status_code == 400
    (row,) = list_tokens(prsm.manager.db, ADMIN)
    viewer = person("viewer")
    fields = {"csrf": viewer.csrf, "number": str(row.id), "confirmed": "yes"}
    assert viewer.post(f"{path}/revoke", fields).status_code == 404
    question = read(browser.act(path, f"{path}/revoke").text)
    assert "Revoke nightly of operator?" in question.text
    browser.follow(browser.submit(question.form(f"{path}/revoke")))
    assert _last(prsm) == ("operator", "token.revoke")
    assert caller.get("/api/v1/session").status_code == 401
    assert "nightly" in person("admin").get(f"{path}.csv?state=revoked").text
    assert "nightly" not in viewer.page(path).text


def test_where_a_person_is_logged_in_is_shown_and_ended(prsm: Running, person: Visitor) -> None:
    """An administrator logs somebody out of one session, or of all."""
    admin, path = person("admin"), "/console/user?name=viewer"
    viewer = person("")
    viewer.log_in("viewer")
    assert viewer.page("/console/reports")
    page = admin.page(path)
    assert "Logged in" in page.text
    admin.follow(admin.submit(page.form("/console/user/log-out")))
    assert _last(prsm) == ("admin", "user.end-sessions")
    fields = {"csrf": admin.csrf, "name": "viewer", "session": ""}
    asked = read(admin.post("/console/user/log-out", fields).text)
    assert "Log viewer out everywhere?" in asked.text
    assert viewer.page("/console/reports").has_form("/console/logout")
    admin.follow(admin.submit(asked.form("/console/user/log-out")))
    assert viewer.get("/console/reports").status_code == 303
    assert person("viewer").get("/console/reports").status_code == 303


def test_owners_of_sites_read_who_visits_them(person: Visitor) -> None:
    """Without a login, in their language, and without a word of who crawls what."""
    told = person("").page("/console/robot")
    assert "User-agent: PRS" in told.text
    assert "By the mail address in the User-Agent." in told.text
    assert not any("agents" in link for link in told.links())
    japanese = person("").get("/console/robot", **{"Accept-Language": "ja"})
    assert "このロボットについて" in japanese.text


def test_the_centre_can_be_written_to(tmp_path: Path) -> None:
    """Its address is on that page where one is set; what is none ends the start."""
    with running(tmp_path, "console.contact=crawl@example.jp") as prsm:
        told = Browser(prsm.public).page("/console/robot")
        assert "mailto:crawl@example.jp" in told.links()
    with pytest.raises(SettingError, match="must be a mail address"):
        read_settings(tmp_path, overrides=["console.contact=koji"])
