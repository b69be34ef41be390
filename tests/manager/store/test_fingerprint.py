"""Near duplicates have nearly the same fingerprint, and other texts have not."""

from __future__ import annotations

import random
import time

import pytest

from manager.store.segments.fingerprint import LEAST_WORDS, page_text, simhash

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\n\r\n"
WORDS = [f"word{number}" for number in range(5000)]


def text_of(seed: int, words: int = 400) -> list[str]:
    return random.Random(seed).choices(WORDS, k=words)


def bits_between(one: int | None, other: int | None) -> int:
    assert one is not None
    assert other is not None
    return (one ^ other).bit_count()


def test_a_changed_word_changes_few_bits() -> None:
    """Of 100 texts of 1,000 words with one changed, nine in ten stay within 3 bits."""
    near = 0
    for seed in range(100):
        words = text_of(seed, 1000)
        changed = [*words[:500], "changed", *words[501:]]
        near += bits_between(simhash(" ".join(words)), simhash(" ".join(changed))) <= 3
    assert near >= 90, near


def test_other_texts_are_far() -> None:
    """No two of 200 texts are within 3 bits."""
    prints = [simhash(" ".join(text_of(seed))) for seed in range(200)]
    least = min(bits_between(a, b) for n, a in enumerate(prints) for b in prints[:n])
    assert least > 3, least


def test_tags_scripts_and_case_do_not_count() -> None:
    """The same words in another dress have the same fingerprint."""
    words = " ".join(text_of(1))
    plain = simhash(page_text(HEAD, words.encode()))
    dressed = f"<html><script>var x = '{words}';</script><p CLASS=y>{words.upper()}</p></html>"
    assert simhash(page_text(HEAD, dressed.encode())) == plain


def test_japanese_is_read_in_its_charset() -> None:
    """A text of no spaces counts by characters; its encoding does not matter."""
    text = "広域分散協調サーチロボットの研究開発に関する報告書である"
    head = HEAD.replace(b"utf-8", b"euc-jp")
    assert simhash(page_text(HEAD, text.encode())) == simhash(
        page_text(head, text.encode("euc-jp"))
    )
    assert simhash(page_text(HEAD, text.encode())) is not None


def test_little_text_has_none() -> None:
    """Too few words say nothing."""
    assert simhash(" ".join(WORDS[: LEAST_WORDS - 1])) is None
    assert simhash(" ".join(WORDS[:LEAST_WORDS])) is not None


@pytest.mark.parametrize(
    "body",
    [
        b"<script>" * 60_000,
        b"<script></x" * 45_000,
        b"<" * 500_000,
        b"&" * 500_000,
        b"<style" * 80_000 + b"</style" * 1000,
        b"a " * 250_000,
    ],
)
def test_hostile_pages_cost_one_pass(body: bytes) -> None:
    """No page costs more than a few seconds of a processor."""
    begun = time.process_time()
    simhash(page_text(HEAD, body))
    assert time.process_time() - begun < 20
