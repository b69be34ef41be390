"""The language of a page: its script first, then its own word."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent.modules.limits import PageLimits
from agent.modules.page.encodings.encoding_labels import codec_of
from agent.modules.page.language import SAMPLE_BYTES, language_of
from agent.modules.page.work import work_on
from agent.pipeline.messages.pages import Fetched
from shared.archive.capture import Capture
from shared.crawl_scope.codes import LANGUAGES

JAPANESE = "分散協調サーチロボットの研究開発では、日本国内の全Webページを収集することを目標とした。"
CHINESE = "本研究旨在开发一种分布式协作搜索机器人，目标是收集全国所有网页的数据并进行共享。"
KOREAN = "전국의 모든 웹 페이지를 하루 안에 수집하는 것을 목표로 하는 분산 로봇입니다."
GERMAN = "Der verteilte Roboter sammelt alle Seiten des Landes an einem einzigen Tag ein."
RUSSIAN = "Распределённый робот собирает все страницы страны за один день и ещё немного."
GREEK = "Το κατανεμημένο ρομπότ συλλέγει όλες τις σελίδες της χώρας σε μία ημέρα."
LABELS = ("utf-8", "shift_jis", "utf-16le", "windows-1252")
HEADER = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n"


def language(page: str, codec: str = "utf-8", header: bytes = b"") -> str:
    return language_of(page.encode(codec), codec, HEADER + header + b"\r\n")


def page(text: str, lang: str = "", head: str = "") -> str:
    said = f' lang="{lang}"' if lang else ""
    return f"<!doctype html><html{said}><head>{head}<title>x</title></head><body><p>{text}</p>"


@pytest.mark.parametrize(
    ("text", "said", "told"),
    [
        (JAPANESE, "", "ja"),
        (JAPANESE, "en", "ja"),  # a template's
        (CHINESE, "", "zh"),
        (CHINESE, "zh-Hant-TW", "zh"),
        ("東京都千代田区霞が関一丁目文部科学省研究振興局情報課", "ja", "ja"),
        (KOREAN, "en", "ko"),
        (GERMAN, "de-AT", "de"),
        (GERMAN, "", "und"),
        (GERMAN, "ja", "und"),  # not one letter of it
        (GERMAN, "xx1", "und"),
        (RUSSIAN, "ru", "ru"),
        (RUSSIAN, "", "und"),
        (RUSSIAN, "de", "und"),
        (GREEK, "", "el"),
        ("", "ja", "ja"),  # of pictures alone
        ("OK", "de", "de"),
        ("ホーム", "", "ja"),
        ("", "", "und"),
        ("&#12354;&#12356;" * 12, "", "ja"),
        (GERMAN * 20 + "カラオケ", "de", "de"),  # one Japanese word
    ],
)
def test_the_script_decides_before_what_a_page_says(text: str, said: str, told: str) -> None:
    """And where a script has many languages, the page."""
    assert language(page(text, said)) == told


@pytest.mark.parametrize(
    ("label", "codec"),
    [
        ("shift_jis", "cp932"),
        ("euc-jp", "euc_jp"),
        ("iso-2022-jp", "iso2022_jp"),
        ("utf-16le", "utf-16-le"),
        ("utf-8", "utf-8"),
    ],
)
def test_pages_are_read_in_their_encoding(label: str, codec: str) -> None:
    """Old pages of the country as well."""
    body = page(JAPANESE).encode(codec)
    assert language_of(body, codec_of(label) or "", HEADER + b"\r\n") == "ja"


def test_a_page_says_it_by_lang_then_meta_then_header() -> None:
    """One language each: a page for readers of two says none."""
    meta = '<meta http-equiv="Content-Language" content="{}">'
    field = b"Content-Language: fr\r\n"
    assert language(page(GERMAN, "de", meta.format("nl")), header=field) == "de"
    assert language(page(GERMAN, "", meta.format("nl")), header=field) == "nl"
    assert language(page(GERMAN, "", meta.format("nl, de")), header=field) == "fr"
    assert language(page(GERMAN), header=b"Content-Language: fr, de\r\n") == "und"
    assert language(f'<html xml:lang="it"><body>{GERMAN}') == "it"


def test_scripts_and_styles_are_no_text() -> None:
    """However many letters they have."""
    code = "<script>var aaaa = 'bbbb';</script><STYLE>a { color: red }</STYLE >" * 200
    assert language(page(code + JAPANESE + code, "en")) == "ja"
    hidden = f"<script>s = '{JAPANESE * 9}'</script>"
    assert language(page(hidden + GERMAN, "de")) == "de"
    assert language(page(GERMAN + "<script>" + JAPANESE * 9, "de")) == "de", "never closed"


@given(st.binary(max_size=2000), st.sampled_from(LABELS))
@settings(max_examples=300)
def test_any_bytes_have_a_language_or_none(body: bytes, label: str) -> None:
    """Nothing raises, and the answer is one that a rule can name."""
    assert language_of(body, codec_of(label) or "", b"") in LANGUAGES


@pytest.mark.parametrize("part", ["<", "<script", "<!--", "</style>", "<a b='", "&#", "あ<", ">"])
def test_hostile_pages_cost_no_more_than_others(part: str) -> None:
    """A sample of the page is read, each part of it a few times (the suite's timeout judges)."""
    body = (part * (4_000_000 // len(part))).encode()
    for _ in range(3):
        assert language_of(body, "utf-8", b"") in LANGUAGES
    assert len(body) > SAMPLE_BYTES


@pytest.mark.parametrize("asks", [False, True])
def test_a_page_is_asked_only_where_a_rule_needs_it(asks: bool) -> None:
    """So other crawls pay nothing for it."""
    body = page(f'{JAPANESE}<a href="/x">').encode()
    capture = Capture("http://a.jp/", 0, b"", HEADER + b"\r\n", body)
    fetched = Fetched(capture, "http://a.jp/", "http://a.jp:80/", "", 1, 0, 0, asks_language=asks)
    links = work_on(fetched, PageLimits(agent_token="prsm")).links
    assert links.urls == ("http://a.jp/x",)
    assert links.language == ("ja" if asks else "")
