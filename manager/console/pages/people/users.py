"""People who may log in, and what they may do. For administrators only."""

from __future__ import annotations

from typing import Final

from starlette.responses import Response

from manager.console import figures
from manager.console.language import _, lazy
from manager.console.messages.disabled_reasons import Unable
from manager.console.messages.sentences import word
from manager.console.requests.page import Page
from manager.console.requests.visit import Visit, link
from manager.console.tables.filters import choice_filter, text_filter
from manager.console.tables.kinds import MOMENT, STATE, WORD
from manager.console.tables.sources import InMemory
from manager.console.tables.table import BUTTONS, Column, Table
from manager.errors import NotFoundError
from manager.operations.hosts.preconditions import is_last_admin
from manager.operations.people.sessions import OpenSession, end_sessions, list_sessions
from manager.operations.people.users import (
    ROLES,
    User,
    add_user,
    change_password,
    count_tokens,
    list_users,
    set_role,
    set_user_disabled,
)

__all__ = ["PAGES", "SESSIONS", "USERS"]

ROLE_WORDS: Final = {
    "viewer": lazy("can view everything except users and join tokens"),
    "operator": lazy("can do the same as a viewer, and act: rounds, plans, commands, hosts"),
    "admin": lazy(
        "can do the same as an operator, and retire agents, make join tokens, manage releases, "
        "third parties, users"
    ),
}
LAST_ADMIN: Final = Unable(
    lazy("This is the last administrator: add another one first."),
    "/console/new-user",
    lazy("Add a user"),
)


USERS: Final[Table[User]] = Table(
    "/users",
    "Users",
    InMemory(lambda visit: list_users(visit.db)),
    (
        Column("name", lambda user: user.name, lazy("Name"), sort=True),
        Column(
            "role",
            lambda user: user.role,
            lazy("Role"),
            WORD,
            sort_by=lambda user: (ROLES.index(user.role), user.name),
        ),
        Column("created", lambda user: user.created_ms, lazy("Added"), MOMENT, sort=True),
        Column("disabled", lambda user: user.disabled_ms, kind=MOMENT),
        Column(
            "state",
            lambda user: "disabled" if user.disabled_ms else "enabled",
            lazy("Login"),
            STATE,
            file=None,
            sort_by=lambda user: (user.disabled_ms is not None, user.name),
        ),
    ),
    page_columns=("name", "role", "state", "created"),
    filters=(
        text_filter(lazy("Name"), lazy("part of a name"), lambda user: user.name),
        choice_filter("role", lazy("Role"), ROLES, lambda user: user.role),
    ),
    default_sort="name",
    role="admin",
)
SESSIONS: Final[Table[OpenSession]] = Table(
    "/user/sessions",
    "Sessions of a user",
    InMemory(lambda visit: list_sessions(visit.db, visit.query.get("name", ""), visit.now_ms)),
    (
        Column("number", lambda one: one.id, lazy("Number"), style="key quiet"),
        Column("since", lambda one: one.created_ms, lazy("Since"), MOMENT),
        Column("until", lambda one: one.expires_ms, lazy("Until"), MOMENT),
        Column("address", lambda one: one.address, lazy("Address")),
        Column("browser", lambda one: one.browser, lazy("Browser")),
        BUTTONS,
    ),
    page_columns=("since", "until", "address", "browser", "number", "actions"),
    parameters=("name",),
    role="admin",
)


def show_new(visit: Visit) -> Response:
    """Ask for a new user's name, role and password."""
    return visit.page("new_user.html", name="", role="viewer", roles=ROLE_WORDS)


def add(visit: Visit) -> Response:
    """Add a user."""
    name, role = visit.form.get("name", "").strip(), visit.form.get("role", "")
    add_user(visit.db, name, visit.form.get("password", ""), role, visit.actor, visit.now_ms)
    return visit.go(
        link("users"), done=_("%(name)s may log in now, as %(role)s.", name=name, role=word(role))
    )


def _user(visit: Visit, name: str) -> User:
    for user in list_users(visit.db):
        if user.name == name:
            return user
    raise NotFoundError("people.unknown", user=name[:80], see="users")


def show_user(visit: Visit) -> Response:
    """Show one user, where the user is logged in, and what can be changed."""
    user = _user(visit, visit.query.get("name", ""))
    return visit.page(
        "user.html",
        person=user,
        roles=ROLE_WORDS,
        unable=LAST_ADMIN if is_last_admin(visit.db, user.name) else "",
        sessions=SESSIONS.part(visit, list_sessions(visit.db, user.name, visit.now_ms)),
    )


def change_role(visit: Visit) -> Response:
    """Set what a user may do; ask once where the user becomes an administrator."""
    user, role = _user(visit, visit.form.get("name", "")), visit.form.get("role", "")
    here, shown = link("user", name=user.name), visit.form.get("shown")
    if role == "admin" and user.role != "admin" and not visit.is_confirmed:
        return visit.ask(
            _("Make %(name)s an administrator?", name=user.name),
            _(
                "An administrator may do everything: retire agents, roll out releases, "
                "distribute data, add users and change their roles, yours too."
            ),
            _("The role can be changed back at any time."),
            button=_("Make an administrator"),
            back=here,
            fields={
                "name": user.name,
                "role": role,
                "shown": user.role if shown is None else shown,
            },
        )
    set_role(visit.db, user.name, role, visit.actor, visit.now_ms, shown=shown)
    return visit.go(here, done=_("%(name)s is %(role)s now.", name=user.name, role=word(role)))


def disable(visit: Visit) -> Response:
    """Keep a user out; ask once."""
    user = _user(visit, visit.form.get("name", ""))
    here = link("user", name=user.name)
    if not visit.is_confirmed:
        return visit.ask(
            _("Disable %(name)s?", name=user.name),
            _("All sessions of this user end at once, and logins are refused."),
            _("The user can be enabled again at any time."),
            button=_("Disable"),
            back=here,
            fields={"name": user.name},
        )
    set_user_disabled(visit.db, user.name, visit.actor, visit.now_ms, disabled=True)
    return visit.go(here, done=_("%(name)s is disabled.", name=user.name))


def enable(visit: Visit) -> Response:
    """Enable a user again."""
    user = _user(visit, visit.form.get("name", ""))
    set_user_disabled(visit.db, user.name, visit.actor, visit.now_ms, disabled=False)
    return visit.go(
        link("user", name=user.name), done=_("%(name)s may log in again.", name=user.name)
    )


def show_password(visit: Visit) -> Response:
    """Ask for a user's new password, and say what it does."""
    user = _user(visit, visit.query.get("name", ""))
    tokens = count_tokens(visit.db, user.name, visit.now_ms)
    return visit.page("user_password.html", person=user, tokens=tokens)


def set_password(visit: Visit) -> Response:
    """Set a user's password; all sessions of the user end, and the tokens where that is chosen."""
    user = _user(visit, visit.form.get("name", ""))
    revoking = visit.form.get("tokens") == "yes"
    done = change_password(
        visit.db,
        user.name,
        visit.form.get("password", ""),
        visit.actor,
        visit.now_ms,
        tokens=revoking,
    )
    said = [_("%(name)s has a new password, and was logged out everywhere.", name=user.name)]
    if done.revoked:
        said.append(_("Tokens revoked: %(count)s.", count=figures.count(done.revoked)))
    if done.left:
        said.append(_("Tokens still valid: %(count)s.", count=figures.count(done.left)))
    return visit.go(link("user", name=user.name), done=" ".join(said))


def log_out(visit: Visit) -> Response:
    """End a session of a user, or all, after a question."""
    user, session = _user(visit, visit.form.get("name", "")), visit.form.get("session", "")
    here = link("user", name=user.name)
    if not session and not visit.is_confirmed:
        return visit.ask(
            _("Log %(user)s out everywhere?", user=user.name),
            _("All sessions of this user end at once; unsaved input may be lost."),
            _("The password stays, and so do the tokens of scripts."),
            button=_("Log out everywhere"),
            back=here,
            fields={"name": user.name, "session": ""},
        )
    end_sessions(visit.db, user.name, visit.actor, visit.now_ms, session)
    if session:
        return visit.go(here, done=_("%(user)s is logged out there.", user=user.name))
    return visit.go(here, done=_("%(user)s is logged out everywhere.", user=user.name))


PAGES: Final = (
    *USERS.pages(lambda visit: visit.page("users.html", list=USERS.view(visit), roles=ROLE_WORDS)),
    Page("GET", "/new-user", "admin", show_new),
    Page("POST", "/new-user", "admin", add, form="/new-user"),
    Page("GET", "/user", "admin", show_user, query=("name",)),
    *SESSIONS.file_pages(),
    Page("POST", "/user/role", "admin", change_role, form="/user?name={name}"),
    Page("POST", "/user/disable", "admin", disable, form="/user?name={name}"),
    Page("POST", "/user/enable", "admin", enable, form="/user?name={name}"),
    Page("GET", "/user/password", "admin", show_password, query=("name",)),
    Page("POST", "/user/password", "admin", set_password, form="/user/password?name={name}"),
    Page("POST", "/user/log-out", "admin", log_out, form="/user?name={name}"),
)
