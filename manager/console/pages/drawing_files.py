"""Drawings of a page as files: SVG from here; PNG is made of it by the browser."""

from __future__ import annotations

from starlette.responses import Response

from manager.console.drawings.drawing import Drawing

__all__ = ["drawing_file"]


def drawing_file(drawing: Drawing, name: str) -> Response:
    """Return the answer that a browser saves as `name`.svg."""
    return Response(
        drawing.file,
        media_type="image/svg+xml; charset=utf-8",
        headers={"Content-Disposition": f'attachment; filename="{name}.svg"'},
    )
