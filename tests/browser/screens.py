"""What is looked for on a screen, at a desk and on a telephone."""

from __future__ import annotations

from tools.browser.driven import DESK, PHONE, Browser

__all__ = ["unsound"]


def unsound(browser: Browser, screen: str, *, both: bool = True) -> list[str]:
    """Return what is wrong with what the browser shows.

    screen: what it is called. both: in the other width as well, which the window has then.
    """
    wrong = []
    sizes = (DESK, PHONE) if browser.window.width == DESK.width else (PHONE, DESK)
    for size in sizes if both else sizes[:1]:
        if size is not sizes[0]:
            browser.resize(size)
        said = [f"axe: {one}" for one in browser.axe()] + browser.stick_out()
        if browser.overflow() > 0:
            said.append(f"{browser.overflow()} pixels wider than the window")
        wrong += [f"{screen}, {size.width}: {one}" for one in said]
    return wrong
