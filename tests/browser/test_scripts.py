"""What scripts add to pages: keys, pictures of drawings, copying, printing, a release sent."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.browser.desk import sit_down
from tools.browser.driven import DESK, Browser
from tools.screenshots.stage import Stage

pytestmark = [pytest.mark.e2e, pytest.mark.slow, pytest.mark.timeout(600)]

ACTIVE = "document.activeElement.closest('.search') !== null"
PICTURES = (
    ("/console/rounds", "rounds"),
    ("/console/rounds/1", "round-1"),
    ("/console/plans/1", "plan-1-costs"),
    ("/console/plans/1/tree", "plan-1-tree"),
)
"""Pages with a drawing, and what its file is called."""


@pytest.fixture
def admin(opened: Browser) -> Iterator[Browser]:
    """Log in, at a desk; nothing may have gone wrong in the browser at the end."""
    yield sit_down(opened)
    assert opened.found() == []


def test_a_slash_leads_to_the_search_field(admin: Browser) -> None:
    """There it is a letter, as `?` is; Escape leads out of it."""
    assert not admin.script(ACTIVE)
    admin.press("/")
    assert admin.script(ACTIVE)
    assert admin.value(".search input") == ""
    for key in ("/", "?", "g", "h"):
        admin.press(key)
    assert admin.value(".search input") == "/?gh"
    assert admin.count("dialog[open]") == 0
    assert admin.path == "/console/"
    admin.press("Escape")
    assert not admin.script(ACTIVE)


def test_a_question_mark_shows_the_keys(admin: Browser) -> None:
    """So does the menu; while they are shown no key leads away; closed, all is as before."""
    for _ in range(2):
        admin.press("?")
        admin.wait_for("dialog#keys")
        assert admin.axe() == []
        admin.press("g")
        admin.press("h")
        admin.press("Escape")
        admin.wait_gone("dialog#keys")
    assert admin.path == "/console/"
    admin.click(".menu summary")
    admin.click("#keys-opener")
    admin.click("dialog#keys button")
    admin.wait_gone("dialog#keys")


def test_g_and_a_letter_lead_to_each_page_of_the_bar(admin: Browser) -> None:
    """The letters are those that the bar has and the list of keys names; another leads nowhere."""
    pages = admin.script(
        "[...document.querySelectorAll('#bar a[data-key]')]"
        ".map(one => [one.dataset.key, one.getAttribute('href')])"
    )
    assert len(dict(pages)) == len(pages) >= 15
    named = admin.script("[...document.querySelectorAll('#keys dt')].map(one => one.textContent)")
    assert named == ["/", "?", *(f"g {key}" for key, _ in pages)]
    for key, path in pages:
        admin.press("Shift")  # after which the page and its scripts are there
        admin.press("g")
        admin.press(key)
        admin.wait_for(f"#bar a[data-key='{key}'][aria-current]")
        assert admin.path == path
    admin.press("Shift")
    admin.press("g")
    admin.press("9")
    admin.press(pages[0][0])
    assert admin.path == pages[-1][1]


@pytest.mark.parametrize(("page", "name"), PICTURES)
def test_a_drawing_is_saved_as_a_picture(
    admin: Browser, tmp_path: Path, page: str, name: str
) -> None:
    """As PNG, twice as large as the SVG of the same drawing, with something on it."""
    admin.go(page)
    link = f"a[data-png='{name}']"
    assert admin.download(link, tmp_path / "picture") == f"{name}.png"
    width, height, colours = _picture((tmp_path / "picture").read_bytes())
    natural = admin.script(
        f"(async () => {{ const image = new Image();"
        f' image.src = document.querySelector("{link}").href; await image.decode();'
        " return [image.naturalWidth, image.naturalHeight]; })()"
    )
    assert [width, height] == [2 * side for side in natural]
    assert colours > 10


def test_what_cannot_be_painted_is_saved_as_a_drawing(admin: Browser, tmp_path: Path) -> None:
    """The button of the picture gives the SVG then."""
    admin.go("/console/rounds")
    admin.script("HTMLCanvasElement.prototype.toBlob = given => given(null)")
    assert admin.download("a[data-png='rounds']", tmp_path / "file") == "rounds.svg"
    assert (tmp_path / "file").read_bytes().startswith(b"<?xml")


def _picture(png: bytes) -> tuple[int, int, int]:
    """Return the width and height of a PNG of 8 bits, and of how many different bytes it is."""
    assert png.startswith(b"\x89PNG\r\n\x1a\n")
    width, height = struct.unpack(">II", png[16:24])
    packed, place = b"", 8
    while place < len(png):
        length, kind = struct.unpack(">I4s", png[place : place + 8])
        if kind == b"IDAT":
            packed += png[place + 8 : place + 8 + length]
        place += length + 12
    return width, height, len(set(zlib.decompress(packed)))


def test_one_click_copies_a_command(admin: Browser) -> None:
    """The button says so, or that the browser does not allow it."""
    admin.allow("clipboard-read", "clipboard-write")
    admin.go("/console/releases")
    block = "pre.copy >> nth=0"
    admin.click(f"{block} >> .copy-button")
    admin.wait_for(f"{block} >> button:has-text('Copied')")
    commands = admin.script("document.querySelector('pre.copy code').textContent")
    assert commands.startswith("prsm ")
    assert admin.script("navigator.clipboard.readText()") == commands
    admin.script("navigator.clipboard.writeText = () => Promise.reject(new Error('no'))")
    admin.click("pre.copy >> nth=1 >> .copy-button")
    admin.wait_for("pre.copy >> nth=1 >> button:has-text('Not allowed')")


def test_the_print_button_prints(admin: Browser) -> None:
    """It is there on the report of a round."""
    admin.go("/console/rounds/1")
    admin.script("window.print = () => { document.title = 'printed'; }")
    admin.click("button:has-text('Print the report')")
    assert admin.script("document.title") == "printed"


def test_a_window_of_maintenance_is_of_the_zone_of_who_plans_it(admin: Browser) -> None:
    """The field has it already."""
    admin.go("/console/alerts")
    assert admin.value("form[action='/console/alerts/windows'] input[name=zone]") == "Asia/Tokyo"


PUBLISH = "form#publish"


@pytest.fixture
def publisher(stage: Stage, browser: Browser) -> Browser:
    """Log in where releases are signed, and stand before the form that publishes one."""
    browser.open(DESK)
    browser.log_in(stage.name, stage.password)
    browser.go("/console/releases")
    browser.wait_for(PUBLISH)
    return browser


def _send(browser: Browser, bundle: Path, targets: Path) -> None:
    browser.attach(f"{PUBLISH} input[name=bundle]", bundle)
    browser.attach(f"{PUBLISH} input[name=targets]", targets)
    browser.click(f"{PUBLISH} button[type=submit]")
    browser.wait_gone(f"{PUBLISH} progress")


def test_what_was_not_signed_is_not_published(publisher: Browser, tmp_path: Path) -> None:
    """The page says why, or that the file is too large before it is sent; nothing is served."""
    bundle, targets = tmp_path / "prs-6.6.6.tar.gz", tmp_path / "next.json"
    bundle.write_bytes(b"no archive")
    targets.write_text("{}")
    _send(publisher, bundle, targets)
    publisher.wait_for(f"{PUBLISH} output.said-bad")
    assert publisher.axe() == []
    assert all("400" in one or "422" in one for one in publisher.found())
    publisher.script("document.getElementById('publish').dataset.most = '3'")
    _send(publisher, bundle, targets)
    assert "the limit releases.bundle_bytes" in publisher.text(f"{PUBLISH} output")
    assert publisher.found() == []
    publisher.go("/console/releases")
    assert publisher.count("#list tr:has-text('6.6.6')") == 0


def test_a_release_is_published_from_the_page(
    stage: Stage, publisher: Browser, tmp_path: Path
) -> None:
    """Its file and the targets are sent; it is served then, and offered to nobody yet."""
    bundle = stage.people.folder / "prs-1.2.0.tar.gz"
    bundle.write_bytes((stage.people.folder / "prs-1.1.0.tar.gz").read_bytes())
    targets = stage.people.sign(bundle, "1.2.0")
    _send(publisher, bundle, targets)
    publisher.wait_for(f"{PUBLISH} output:has-text('1.2.0 is served now')")
    publisher.click(f"{PUBLISH} a")
    assert "no agents" in publisher.text("#list tr:has(th:text-is('1.2.0'))")
    assert publisher.found() == []
