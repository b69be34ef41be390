"""A new agent, or a new key for one: a join token, shown once, and the commands to use it.

Who made it leaves its page open: a part of it is live, and says when the agent has joined. Which
token it is about, its address says by the hash, which opens nothing.
"""

from __future__ import annotations

from typing import Final

from starlette.responses import Response

from manager.console import figures
from manager.console.language import _, ngettext
from manager.console.requests.page import Page
from manager.console.requests.visit import Visit
from manager.operations.identity.enrolment import JoinToken, issue_join_token, revoke_join_token
from manager.operations.identity.join_tokens import join_token_status
from shared.wire.names import hash_of_key

__all__ = ["PAGES"]

DAY_S: Final = 86_400


def show(visit: Visit) -> Response:
    """Ask for the name that a token is to be bound to."""
    return visit.page(
        "new_agent.html",
        name=visit.query.get("name", ""),
        valid=_valid(visit.services.policy.join_token_s),
    )


def _valid(valid_s: float) -> str:
    """Return for how long a token is good: in days, where these are whole."""
    days, rest_s = divmod(valid_s, DAY_S)
    if days and not rest_s:
        return ngettext("%(num)s day", "%(num)s days", round(days))
    return figures.duration(valid_s * 1000)


def issue(visit: Visit) -> Response:
    """Make a token and show it, this once."""
    name = visit.form.get("name", "").strip().lower()
    valid_s = visit.services.policy.join_token_s
    token = issue_join_token(visit.db, name, visit.actor, visit.now_ms, valid_s)
    return _page(visit, token.agent, hash_of_key(token.token), token, status=201)


def show_token(visit: Visit) -> Response:
    """Show the state of a token; never the token."""
    if "name" not in visit.query:
        return visit.go("/console/new-agent")
    return _page(visit, visit.query.get("name", ""), visit.query.get("token", ""))


def revoke(visit: Visit) -> Response:
    """Revoke an unused token; ask once."""
    name = visit.form.get("name", "")
    if not visit.is_confirmed:
        return visit.ask(
            _("Revoke the join token of %(agent)s?", agent=name),
            _("It can no longer be used to join."),
            _("An agent that has already joined stays. You can make another token."),
            button=_("Revoke"),
            back="/console/agents",
            fields={"name": name},
        )
    revoke_join_token(visit.db, name, visit.actor, visit.now_ms)
    said = _("The join token of %(agent)s is revoked.", agent=name)
    return visit.go("/console/agents", done=said)


def _page(
    visit: Visit, name: str, token_hash: str, token: JoinToken | None = None, *, status: int = 200
) -> Response:
    joining = join_token_status(visit.db, name, token_hash, visit.now_ms)
    return visit.page("join_token.html", status=status, token=token, joining=joining)


PAGES: Final = (
    Page("GET", "/new-agent", "admin", show, query=("name",)),
    Page("POST", "/new-agent", "admin", issue, form="/new-agent"),
    Page("GET", "/join-token", "admin", show_token, query=("name", "token")),
    Page("POST", "/join-token/revoke", "admin", revoke, form="/agents"),
)
