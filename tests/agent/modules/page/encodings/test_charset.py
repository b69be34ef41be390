"""The encoding of a page: said, declared or guessed."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.modules.page.encodings import decoded
from agent.modules.page.encodings.charset import _USUAL, _searched, charset_of, declared_charset
from agent.modules.page.encodings.encoding_labels import codec_of
from agent.modules.page.header_fields import header_charset
from tests.fixtures_dir import FIXTURES, fixture_folder

ROWS = FIXTURES / "url-pairs" / "w3lib_encoding.json"
SAMPLES = {
    "sample-arabic-1.txt": "cp1256",
    "sample-arabic.txt": "utf-8",
    "sample-bulgarian.txt": "utf-8",
    "sample-chinese.txt": "big5hkscs",
    "sample-english.bom.txt": "utf-8",
    "sample-french-1.txt": "cp1252",
    "sample-greek-2.txt": "cp1253",
    "sample-greek.txt": "cp1253",
    "sample-hebrew-2.txt": "cp1255",
    "sample-hebrew-3.txt": "cp1255",
    "sample-korean.txt": "cp949",
    "sample-russian.txt": "mac-cyrillic",
    "sample-turkish.txt": "cp1254",
    **{f"sample-{name}.txt": "utf-8" for name in ("french", "polish", "russian-2", "spanish")},
    "sample-russian-3.txt": "utf-8",
}
# Malformed values that w3lib and the MIME standard read differently; browsers do as the standard.
AS_BROWSERS = {
    'text/html; charset="utf-8': "utf-8",
    'text/html; charset="utf-8"x': "utf-8",
    'text/html; charset="utf-8"extra': "utf-8",
    'text/html; foo="bar; charset=utf-7;"; charset=""; charset=utf-8': None,
}
# Names that Python knows and no browser; and GBK, whose queries differ from those of gb18030.
BY_THE_STANDARD = {" Latin-1": None, "gb_2312-80": "gbk"}
JAPANESE = "これは日本語のページです。研究室のサーバについて説明します。"


def rows(function: str) -> list[tuple[str, str | None]]:
    if not ROWS.exists():
        return []
    return [
        (row["args"][0], row["expected"])
        for row in json.loads(ROWS.read_text())
        if row["func"] == function
    ]


@pytest.mark.parametrize(("value", "expected"), rows("http_content_type_encoding"))
def test_reads_the_charset_of_a_content_type(value: str, expected: str | None) -> None:
    """A parameter named charset counts, in quotes or without, and no look-alike."""
    label = header_charset(value)
    assert (codec_of(label) if label else None) == AS_BROWSERS.get(value, expected)


@pytest.mark.parametrize(("text", "expected"), rows("html_body_declared_encoding"))
def test_finds_the_declaration_of_a_page(text: str, expected: str | None) -> None:
    """A meta element before the body counts; one in a comment does not."""
    assert declared_charset(text.encode()) == ("gbk" if expected == "gb18030" else expected)


@pytest.mark.parametrize(("label", "expected"), rows("resolve_encoding"))
def test_labels_mean_what_browsers_take_them_for(label: str, expected: str | None) -> None:
    """Old labels name the larger encoding that browsers use."""
    assert codec_of(label) == BY_THE_STANDARD.get(label, expected)


@pytest.mark.parametrize(
    ("label", "codec"),
    [
        ("x-sjis", "cp932"),
        ("Shift_JIS", "cp932"),
        ("windows-31j", "cp932"),
        ("x-euc-jp", "euc_jp"),
        ("ISO-2022-JP", "iso2022_jp"),
        ("euc-kr", "cp949"),
        ("gb2312", "gbk"),
        ("gbk", "gbk"),
        ("iso-2022-kr", "replacement"),
        ("big5", "big5hkscs"),
        ("tis-620", "cp874"),
        ("iso-8859-9", "cp1254"),
        ("utf-16", "utf-16-le"),
        ("utf-7", None),
        ("rot13", None),
        ("idna", None),
        ("unicode_escape", None),
        ("../../etc/passwd", None),
        ("undefined", None),
        ("x" * 1000, None),
    ],
)
def test_only_encodings_of_the_web_are_known(label: str, codec: str | None) -> None:
    """Python's other codecs are no encodings of a page."""
    assert codec_of(label) == codec


@pytest.mark.parametrize(("name", "codec"), SAMPLES.items())
def test_guesses_the_encoding_of_a_text(name: str, codec: str) -> None:
    """Without a word from anybody the text itself tells, of every sample there is."""
    assert {path.name for path in fixture_folder("charset-samples").glob("sample-*")} == set(
        SAMPLES
    )
    assert charset_of((fixture_folder("charset-samples") / name).read_bytes(), "") == codec


@pytest.mark.parametrize("codec", ["euc_jp", "cp932", "iso2022_jp", "utf-8"])
def test_guesses_japanese_pages(codec: str) -> None:
    """A sentence is enough for the encodings of Japanese pages, behind a kilobyte of markup."""
    page = "<html>" + "<p>" * 1000 + JAPANESE
    assert charset_of(page.encode(codec), "text/html") == codec


def test_who_says_it_first_is_believed() -> None:
    """Mark before header before meta before guess."""
    page = b'<meta charset="euc-jp">' + JAPANESE.encode("cp932")
    assert charset_of(page, "") == "euc_jp"
    assert charset_of(page, "text/html; charset=utf-8") == "utf-8"
    assert charset_of(b"\xff\xfe" + page, "text/html; charset=utf-8") == "utf-16-le"
    assert charset_of(page, "text/html; charset=nonsense") == "euc_jp"


@pytest.mark.parametrize(
    ("content_type", "codec"),
    [("text/html", "cp932"), ("application/xhtml+xml", "euc_jp"), ("text/xml;a=b", "euc_jp")],
)
def test_a_declaration_in_xml_counts_before_a_meta_only_in_xml(
    content_type: str, codec: str
) -> None:
    """In HTML a `<meta>` counts first, as in Chromium."""
    page = b"<?xml version='1.0' encoding='euc-jp'?><html><head><meta charset=shift_jis>"
    assert charset_of(page, content_type) == codec


def test_a_declaration_in_xml_counts() -> None:
    """XHTML names its encoding in the first line."""
    assert declared_charset(b'<?xml version="1.0" encoding="Shift_JIS"?><html>') == "cp932"


@pytest.mark.parametrize(
    ("page", "codec"),
    [
        (b'<meta charset="utf-16">', "utf-8"),
        (b"<meta http-equiv=Content-Type content='text/html;charset=EUC-JP'>", "euc_jp"),
        (b"<title><meta charset=euc-jp></title>", None),
        (b"<script>'<meta charset=euc-jp>'</script><meta charset=big5>", "big5hkscs"),
        (b" " * 1020 + b"<meta charset=euc-jp>", "euc_jp"),
        (b"<!--" + b"x" * 2000 + b"--><title>t</title><meta charset=euc-jp>", "euc_jp"),
        (b"<p>" + b" " * 1020 + b"<meta charset=euc-jp>", None),
        (b"<p><meta charset=euc-jp>", "euc_jp"),
        (b"<meta charset=x-user-defined>", "cp1252"),
        (b"<META CHARSET = ' euc-jp '>", "euc_jp"),
    ],
)
def test_declarations_as_pages_write_them(page: bytes, codec: str | None) -> None:
    """Quotes, case and place vary; what is text of a script or title is no declaration."""
    assert declared_charset(page) == codec


def test_a_page_cut_inside_a_character_is_still_utf8() -> None:
    """The last bytes may be missing."""
    assert charset_of(JAPANESE.encode()[:-1], "") == "utf-8"


@given(st.binary(max_size=300), st.text(max_size=40))
def test_every_page_can_be_decoded(body: bytes, content_type: str) -> None:
    """Whatever was chosen decodes the page without fail."""
    assert isinstance(decoded(body, charset_of(body, content_type)), str)


HEAD = st.sampled_from(
    (
        *(
            "<!DOCTYPE html>",
            "<!doctype html PUBLIC '-//W3C//DTD' \"x\">",
            "<html>",
            '<HTML lang="a>b">',
        ),
        *(
            "<head>",
            "<html lang=ja>",
            "<body>",
            "<title>",
            "</title>",
            "<!--",
            "-->",
            "\n",
            " ",
            "x",
        ),
        *("<title>a &amp; b</title>", '<meta name="viewport" content="width=1, x">'),
        *('<meta name="a" content="charset=euc-jp">', '<html data-content_root="../">'),
        *('<meta name="a" content="b" charset="big5">', '<meta name="CharSet" content="">'),
        *('<meta charset="utf-8">', "<meta charset=euc-jp />", "<meta charset=utf-8/>", "<META "),
        *('<meta charset="x-none">', "<meta charset='sjis'>", 'charset="big5"', " />", ">", '"'),
        *('<meta http-equiv="Content-Type" content="text/html; charset=euc-kr" />', "\x1c", "\xa0"),
        *(
            '<meta http-equiv="content-type content="text/html;charset=koi8-r">',
            "<?xml version='1'",
        ),
        *('<meta http-equiv=content-type content="text/html;charset=koi8-r">', ' name="a"', "\x85"),
    )
)


@given(
    st.lists(HEAD, max_size=12).map("".join)
    | st.lists(HEAD, max_size=4).map(lambda parts: f"<!DOCTYPE html><html><head>{''.join(parts)}")
)
def test_the_quick_look_finds_what_the_search_finds(head: str) -> None:
    """Most pages begin in one of few ways, and are read without taking their tags apart."""
    assert declared_charset(head.encode("latin-1")) == _searched(head)


JAVADOC = """<!DOCTYPE HTML>
<html>
<head>
<title>A (SE &amp; K)</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Type" content="text/html; charset=UTF-8">"""
SPHINX = """<!DOCTYPE html>
<html lang="en" data-content_root="../">
<head>
<meta charset="utf-8" />"""


@pytest.mark.parametrize("head", [JAVADOC, SPHINX])
def test_documentation_is_read_by_the_quick_look(head: str) -> None:
    """As these programs begin their pages."""
    match = _USUAL.match(head.encode())
    assert match is not None
    assert (match[1] or match[3]).lower() == b"utf-8"
