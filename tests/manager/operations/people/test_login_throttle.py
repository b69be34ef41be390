"""Wrong passwords slow down those who send them, and nobody else."""

from __future__ import annotations

import pytest
import sqlalchemy as sa

from manager.db.engine import Database
from manager.db.people import login_failures as rows
from manager.db.tables import login_failures
from manager.errors import SlowDownError, UnknownKeyError
from manager.operations.actor import Actor
from manager.operations.people.api_tokens import Holder
from manager.operations.people.audit_log import audit_page
from manager.operations.people.login_throttle import (
    BUCKETS,
    FREE_RATE,
    LONGEST_DELAY_S,
    NAMES,
    ROWS_MOST,
    login_wait,
    purge_failures,
    source_of,
)
from manager.operations.people.own_password import change_own_password
from manager.operations.people.sessions import list_sessions
from manager.operations.people.users import Session, add_user, change_password, login
from shared.wire.names import hash_of_key

LOCAL = Actor("local", "root")
GOOD = "correct horse battery"
HERE, THERE = "192.0.2.7", "198.51.100.1"


@pytest.fixture
def hana(database: Database) -> Database:
    add_user(database, "hana", GOOD, "admin", LOCAL, 0)
    return database


def guess(db: Database, times: int, now_ms: int, name: str = "hana", address: str = THERE) -> int:
    """Log in wrongly; return how many were looked at."""
    looked = 0
    for _ in range(times):
        with pytest.raises((UnknownKeyError, SlowDownError)) as found:
            login(db, name, "wrong", now_ms, address=address)
        looked += found.type is UnknownKeyError
    return looked


def enter(db: Database, now_ms: int, address: str = HERE, device: str = "") -> Session:
    return login(db, "hana", GOOD, now_ms, address=address, device=device)


def count(db: Database) -> int:
    with db.read() as tx:
        return int(tx.value(sa.select(sa.func.count()).select_from(login_failures)))


def test_the_owner_is_let_in_while_others_guess(hana: Database) -> None:
    """From another address the right password is good at any time, as often as it is tried."""
    for number in range(39):
        guess(hana, 3, 1000 * number)
        assert enter(hana, 1000 * number).user == "hana"
    with pytest.raises(SlowDownError):
        enter(hana, 39_000, THERE)


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("192.0.2.7", "192.0.2.8", False),
        ("2001:db8::1", "2001:db8::ffff:2", True),
        ("2001:db8::1", "2001:db8:0:1::1", False),
        ("::ffff:192.0.2.7", "192.0.2.7", True),
        ("", "-", True),
        ("127.0.0.1", "::1", False),
    ],
)
def test_an_ipv6_address_counts_by_its_network(one: str, other: str, same: bool) -> None:
    """Whoever has a /64 has 2^64 addresses."""
    assert (source_of(one) == source_of(other)) == same


def test_a_network_has_five_tries(hana: Database) -> None:
    """From however many of its addresses they come."""
    looked = sum(guess(hana, 1, 1000, address=f"2001:db8::{n:x}") for n in range(20))
    assert looked == 5


def test_a_device_that_logged_in_before_passes(hana: Database) -> None:
    """Also from the very address that guesses; another user's cookie is none."""
    device = enter(hana, 0, THERE).device
    guess(hana, 40, 1000)
    with pytest.raises(SlowDownError):
        enter(hana, 1000, THERE)
    assert enter(hana, 1000, THERE, device).user == "hana"
    add_user(hana, "ken", GOOD, "viewer", LOCAL, 0)
    other = login(hana, "ken", GOOD, 1000, address=HERE).device
    forged = device[:-4] + ("0000" if device[-4:] != "0000" else "1111")
    nonsense = (other, forged, "", "x", "1.2.3", device + "0", f"9{device}")
    for each in nonsense:
        with pytest.raises(SlowDownError):
            enter(hana, 1000, THERE, each)


def test_a_known_device_has_its_own_count(hana: Database) -> None:
    """A stolen cookie gives five tries, too; a good login there counts from zero."""
    device = enter(hana, 0).device
    looked = 0
    for _ in range(10):
        with pytest.raises((UnknownKeyError, SlowDownError)) as found:
            login(hana, "hana", "wrong", 1000, address=HERE, device=device)
        looked += found.type is UnknownKeyError
    assert looked == 5
    assert enter(hana, 1000, HERE).user == "hana"
    assert enter(hana, 400_000, HERE, device).user == "hana"


def test_a_new_password_makes_devices_strange(hana: Database) -> None:
    """Set by an administrator: all; by the user: the device at hand is known on."""
    device = enter(hana, 0, THERE).device
    change_password(hana, "hana", GOOD, LOCAL, 1)
    assert not login_wait(hana, "hana", THERE, device, 2).known
    session = enter(hana, 10, THERE)
    new = "staple battery horse"
    made = change_own_password(
        hana, Holder("user", "hana", "admin", ""), hash_of_key(session.token), GOOD, new,
        Actor("user", "hana", "", THERE), 20, device=session.device,
    )  # fmt: skip
    assert login_wait(hana, "hana", THERE, made, 30).known
    assert not login_wait(hana, "hana", THERE, session.device, 30).known


def test_a_device_is_known_for_400_days(hana: Database) -> None:
    """As long as a browser keeps its cookie."""
    device = enter(hana, 0).device
    day_ms = 86_400_000
    assert login_wait(hana, "hana", HERE, device, 399 * day_ms).known
    assert not login_wait(hana, "hana", HERE, device, 401 * day_ms).known


def test_guesses_from_everywhere_delay_and_never_lock_out(hana: Database) -> None:
    """A thousand addresses: strangers wait some seconds, a known device does not, all get in."""
    device = enter(hana, 0).device
    assert login_wait(hana, "hana", HERE, "", 0).delay_s == 0
    for number in range(FREE_RATE + 40):
        guess(hana, 1, 1000, address=f"203.0.{number // 250}.{number % 250}")
    assert login_wait(hana, "hana", HERE, "", 1000).delay_s == LONGEST_DELAY_S
    assert login_wait(hana, "hana", HERE, device, 1000).delay_s == 0
    assert login_wait(hana, "nobody", HERE, "", 1000).delay_s == 0
    assert enter(hana, 1000).user == "hana"
    assert login_wait(hana, "hana", HERE, "", 1000 + 3_600_000).delay_s == 0


def test_names_that_are_made_up_make_no_rows(hana: Database) -> None:
    """One address makes so many rows, however many names it tries, and nothing of them is kept."""
    for number in range(150):
        guess(hana, 1, 1000 + number, name=f"nobody-{number}")
    assert count(hana) <= BUCKETS + NAMES
    with hana.read() as tx:
        found = [str(row[0]) for row in tx.execute(sa.select(login_failures.c.name))]
    assert len([name for name in found if name.startswith(THERE)]) <= BUCKETS
    assert not any("nobody" in name for name in found)
    assert audit_page(hana, action="user.fail-logins") == []


def test_a_name_that_does_not_exist_is_slowed_down_alike(hana: Database) -> None:
    """Nobody learns by waiting which names there are."""
    assert guess(hana, 9, 1000, name="nobody") == guess(hana, 9, 1000, name="hana") == 5


def test_the_rows_are_bounded_and_purged_by_the_clock(database: Database) -> None:
    """The oldest go where there are too many; a day after the last failure there is none."""
    with database.write() as tx:
        for number in range(ROWS_MOST + 500):
            rows.put(tx, f"198.51.{number}", 0, 1, 1000 + number)
    purge_failures(database, 20_000)
    assert 0 < count(database) <= ROWS_MOST
    with database.read() as tx:
        assert rows.find(tx, f"198.51.{ROWS_MOST + 499}", 0) is not None
        assert rows.find(tx, "198.51.0", 0) is None
    purge_failures(database, 20_000 + 25 * 3_600_000)
    assert count(database) == 0


def test_an_alert_a_day(hana: Database) -> None:
    """However many addresses guess, and from where the first did."""
    for number in range(8):
        guess(hana, 5, 1000, address=f"203.0.113.{number}")
    (alert,) = audit_page(hana, action="user.fail-logins", alerts=True)
    assert (alert.subject, alert.address) == ("hana", "203.0.113.0")
    guess(hana, 5, 90_000_000, address="203.0.113.99")
    assert len(audit_page(hana, action="user.fail-logins", alerts=True)) == 2


def test_where_somebody_logged_in_is_kept(hana: Database) -> None:
    """Address and browser, with the session and in the audit."""
    login(hana, "hana", GOOD, 1000, address=HERE, browser="Mozilla/5.0 Firefox/142.0")
    (session,) = list_sessions(hana, "hana", 2000)
    assert (session.address, session.browser) == (HERE, "Mozilla/5.0 Firefox/142.0")
    (row,) = audit_page(hana, action="user.login")
    assert (row.address, row.browser) == (HERE, "Mozilla/5.0 Firefox/142.0")
