"""The settings of the manager's file, as they hold now; secrets are not shown."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from fastapi import Response

from manager.api.access import Services, Viewer
from manager.api.routes import subject_router
from manager.settings import SettingLine, setting_lines
from shared.messages import spoken_language
from shared.messages.catalogue import setting_meaning

__all__ = ["router"]

router: Final = subject_router("settings")


@router.get("/settings")
async def settings(services: Services, response: Response, _: Viewer) -> list[SettingLine]:
    """Show all settings with default, range, meaning, and where each was said.

    `reason`, the meaning, is in the language of Accept-Language.
    """
    language = spoken_language()
    response.headers.update({"Content-Language": language, "Vary": "Accept-Language"})
    return [
        replace(line, reason=setting_meaning(line.name, line.reason, language))
        for line in setting_lines(services.settings)
    ]
