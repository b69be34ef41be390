"""Scope of the crawl: an ordered list of rules, edited as a whole."""

from __future__ import annotations

from typing import Annotated, Final

from fastapi import Query
from pydantic import BaseModel, Field

from manager.api.access import Operator, Services, Viewer
from manager.api.routes import subject_router
from manager.operations.hosts import crawl_scope
from manager.operations.hosts.crawl_scope import ScopeChange, ScopeShown, ScopeTried

__all__ = ["router"]

router: Final = subject_router("scope", "/scope")


class ScopeText(BaseModel):
    """Rules, one a line."""

    text: Annotated[str, Field(max_length=100_000)]


class NewScope(ScopeText):
    """Rules to put in force. version: the one that they were made from; none: whichever it is."""

    reason: Annotated[str, Field(max_length=1000)] = ""
    version: int | None = None


class ScopeVersion(BaseModel):
    """The version that is in force now."""

    version: int


@router.get("")
def show(services: Services, _: Viewer) -> ScopeShown:
    """Show the scope in force."""
    return crawl_scope.scope_of_crawl(services.db)


@router.post("")
def set_(services: Services, actor: Operator, asked: NewScope) -> ScopeVersion:
    """Put rules in force: all of them, or none where a line is no rule."""
    version = crawl_scope.set_scope(
        services.db, asked.text, asked.reason, actor, services.now_ms(), asked.version
    )
    return ScopeVersion(version=version)


@router.post("/preview")
def preview(services: Services, _: Viewer, asked: ScopeText) -> ScopeChange:
    """Show which hosts and units rules would close and open; nothing changes."""
    return crawl_scope.preview_scope(services.db, asked.text)


@router.get("/try")
def try_(
    services: Services,
    _: Viewer,
    url: Annotated[str, Query(max_length=4096)],
    language: Annotated[str, Query(max_length=100)] = "",
) -> ScopeTried:
    """Show which rule decides about a URL or a host. language: of the page that links to it."""
    return crawl_scope.try_scope(services.db, url, language)
