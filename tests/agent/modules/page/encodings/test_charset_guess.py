"""Which encoding a page has that nobody names."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.modules.page.encodings import decoded
from agent.modules.page.encodings.charset_guess import guessed_charset, top_level_domain
from tests.fixtures_dir import fixture_folder


def words(*lines: str) -> list[str]:
    """Return the words of some lines."""
    return " ".join(lines).split()


JAPANESE = words(
    "会社案内 事業所一覧 工業大学 検索結果 日本語 連絡先 新着情報 採用情報 東京都 北海道",
    "製品情報 研究室 図書館 技術資料 入門講座 株式会社 電気通信 学生生活 交通案内 料金表",
    "利用規約 個人情報保護 年間行事 掲示板 更新履歴 写真集 旅行記 論文 委員会 平成十年",
    "お知らせ ニュース 地図 目次",
)
SIMPLIFIED = words(
    "你好世界 新闻 联系我们 首页 产品中心 公司简介 图书馆 研究生 下载 人才招聘 友情链接",
    "在线留言 学校概况",
)
TRADITIONAL = words(
    "新聞 聯絡我們 首頁 產品 公司簡介 學院 圖書館 歡迎光臨 網站導覽 最新消息 會員登入",
    "交通資訊",
)
KOREAN = words(
    "안녕하세요 회사소개 대학교 연구실 공지사항 뉴스 자료실 게시판 인사말 오시는길",
    "사업분야 고객센터 서비스",
)
RUSSIAN = words(
    "Привет Новости Контакты Главная страница компании Каталог Москва Университет Поиск",
    "документы статьи работа",
)
OTHERS = (
    *("cp1253 Ειδήσεις", "iso8859-2 Aktualności", "cp1252 Téléchargement", "cp1252 Übersicht"),
    *("cp1254 İletişim", "cp1255 חדשות", "cp1256 الأخبار", "cp874 หน้าแรก", "cp1250 Příspěvky"),
)
WORDS = [
    *((codec, word) for codec in ("euc_jp", "cp932") for word in JAPANESE),
    *(("gbk", word) for word in SIMPLIFIED),
    *(("big5hkscs", word) for word in TRADITIONAL),
    *(("cp949", word) for word in KOREAN),
    *((codec, word) for codec in ("koi8-r", "cp1251", "iso8859-5", "cp866") for word in RUSSIAN),
    *((codec, word) for codec, word in map(str.split, OTHERS)),
    ("koi8-r", "форум"),  # in windows-1251 these bytes are capitals without a vowel
]
IN_TEXT = '<title>{}</title><p>{}<a href="/one.html">1</a><a href="/two.html">2</a>'
IN_ATTRIBUTES = '<title>Files</title><a href="/{}.html">list</a><img alt="{}">'


@pytest.mark.parametrize("page", [IN_TEXT, IN_ATTRIBUTES])
@pytest.mark.parametrize(("codec", "word"), WORDS)
def test_one_word_tells_the_encoding(page: str, codec: str, word: str) -> None:
    """In the text, or in attributes alone; without a hint of the domain."""
    text = page.format(word, word)
    body = text.encode(codec)
    assert decoded(body, guessed_charset(body)) == text


@pytest.mark.parametrize("case", ["gbk-undeclared-utf16-guess", "sjis-only-in-attributes"])
def test_pages_that_lost_their_links(case: str) -> None:
    """Small pages whose bytes were taken for UTF-16 or UTF-8."""
    body = (fixture_folder("wild-2026-11") / case / "page.html").read_bytes()
    assert guessed_charset(body) == ("gbk" if case.startswith("gbk") else "cp932")


@pytest.mark.parametrize(
    ("word", "codec", "country", "wrong"),
    [("上海", "gbk", "cn", "euc_jp"), ("фото", "cp1251", "ru", "cp1254")],
)
def test_the_domain_decides_between_two(word: str, codec: str, country: str, wrong: str) -> None:
    """A word may be one in two encodings; where the host is, one of them is likelier."""
    body = f"<p>{word}</p>".encode(codec)
    assert guessed_charset(body) == wrong
    assert guessed_charset(body, country) == codec


@given(st.binary(max_size=200), st.sampled_from(["", "jp", "ru", "xn--p1ai"]))
def test_a_guess_leaves_ascii_as_it_is(noise: bytes, country: str) -> None:
    """Without NUL bytes it is never UTF-16, and without escapes never ISO-2022-JP."""
    noise = noise.replace(b"\0", b"").replace(b"\x1b", b"")
    body = b"<a href='/one.html'>1</a>" + noise
    assert decoded(body, guessed_charset(body, country)).startswith("<a href='/one.html'>1</a>")


@pytest.mark.parametrize("codec", ["utf-16-le", "utf-16-be"])
def test_utf16_without_a_mark_is_known_by_its_nul_bytes(codec: str) -> None:
    """Markup has one in each pair of bytes; a page with a few has not."""
    assert guessed_charset("<html><body>日本語 <a href='/x'>".encode(codec)) == codec
    assert guessed_charset(b"<p>a\0b\0</p><a href=x>\xe9") not in ("utf-16-le", "utf-16-be")


def test_a_long_page_is_judged_by_a_sample() -> None:
    """Megabytes of text cost no more than eight kilobytes."""
    body = b"<p>x</p>" * 100_000 + "お知らせ。".encode("euc_jp") * 400_000
    assert guessed_charset(body) == "euc_jp"


def test_words_of_an_old_macintosh_are_cyrillic() -> None:
    """Firefox takes them for Western text."""
    text = (fixture_folder("charset-samples") / "sample-russian.txt").read_bytes()
    assert guessed_charset(text) == "mac-cyrillic"
    assert guessed_charset("Élève près de la forêt, où ça?".encode("mac-roman")) != "mac-cyrillic"


@pytest.mark.parametrize(
    ("url", "domain"),
    [
        ("http://www.a.co.jp:8080/x", "jp"),
        ("http://192.0.2.1/", ""),
        ("http://[::1]/", ""),
        ("http://localhost/", ""),
        ("https://xn--r8jz45g.xn--p1ai/", "xn--p1ai"),
    ],
)
def test_the_domain_of_a_host(url: str, domain: str) -> None:
    """An address is in no country."""
    assert top_level_domain(url) == domain
