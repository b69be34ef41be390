"""Character encodings of pages, read and written as the Encoding Standard does.

    decoded("\x8e\x91".., "cp932")   the text of a page, malformed bytes as U+FFFD
    encoded("資料", "cp932")          a query's bytes; what the encoding lacks as `%26%23N%3B`

A codec is named as `labels.codec_of` names it. Python's own codecs differ from the standard in a
few hundred characters and in what they take for malformed, so each has its repairs here:

    single_byte.py   one table an encoding
    pairs.py         the character of a two-byte sequence, in each East Asian encoding
    decoders.py      bytes to text: by Python's codec where that agrees, by the rules elsewhere
    encoders.py      text to bytes
    iso2022jp.py     both for the one encoding with states

Invariant: any bytes can be decoded and any text encoded, in time linear in their length.
Source: WHATWG Encoding, 8 to 14; held to its indexes by tests.
"""

from __future__ import annotations

from agent.modules.page.encodings.decoders import decoded, is_unicode
from agent.modules.page.encodings.encoders import encoded

__all__ = ["decoded", "encoded", "is_unicode"]
