"""Names of character encodings, as pages write them, to the codec that browsers would use.

Browsers read many labels as a larger encoding (`iso-8859-1` as windows-1252). Only the encodings
of the web are let through: Python knows others that decode to code or to file names.
Source: WHATWG Encoding, 4.2.
"""

from __future__ import annotations

import codecs
import re
from typing import Final

__all__ = ["codec_of"]

# What Python calls it -> what browsers use for it.
_CODECS: Final = {
    "ascii": "cp1252",
    "iso8859-1": "cp1252",
    "iso8859-9": "cp1254",
    "iso8859-11": "cp874",
    "tis-620": "cp874",
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "big5": "big5hkscs",
    "cp950": "big5hkscs",
    "shift_jis": "cp932",
    "euc_kr": "cp949",
    "utf-16": "utf-16-le",
} | {
    name: name
    for name in (
        *("utf-8", "utf-16-le", "utf-16-be", "gb18030", "big5hkscs", "cp949"),
        *("euc_jp", "cp932", "iso2022_jp", "koi8-r", "koi8-u", "mac-roman", "mac-cyrillic"),
        *(f"iso8859-{part}" for part in (2, 3, 4, 5, 6, 7, 8, 10, 13, 14, 15, 16)),
        *("cp866", "cp874", *(f"cp125{digit}" for digit in range(9))),
    )
}

# Labels that Python does not know, or takes for something else.
_LABELS: Final = {
    "unicode-1-1-utf-8": "utf-8",
    "iso-8859-8-i": "iso8859-8",
    "logical": "iso8859-8",
    "visual": "iso8859-8",
    "iso88598": "iso8859-8",
    "csiso88598i": "iso8859-8",
    "csiso88598e": "iso8859-8",
    "csiso88596e": "iso8859-6",
    "csiso88596i": "iso8859-6",
    "iso-8859-6-e": "iso8859-6",
    "iso-8859-6-i": "iso8859-6",
    "iso-8859-8-e": "iso8859-8",
    "koi": "koi8-r",
    "koi8": "koi8-r",
    "koi8-ru": "koi8-u",
    "cskoi8r": "koi8-r",
    "mac": "mac-roman",
    "x-mac-roman": "mac-roman",
    "csmacintosh": "mac-roman",
    "x-mac-cyrillic": "mac-cyrillic",
    "x-mac-ukrainian": "mac-cyrillic",
    "dos-874": "cp874",
    "windows-874": "cp874",
    "gb_2312": "gb18030",
    "gb_2312-80": "gb18030",
    "x-gbk": "gb18030",
    "csgb2312": "gb18030",
    "cn-big5": "big5hkscs",
    "x-x-big5": "big5hkscs",
    "csbig5": "big5hkscs",
    "x-euc-jp": "euc_jp",
    "cseucpkdfmtjapanese": "euc_jp",
    "csiso2022jp": "iso2022_jp",
    "iso-2022-jp": "iso2022_jp",
    "csshiftjis": "cp932",
    "ms932": "cp932",
    "ms_kanji": "cp932",
    "windows-31j": "cp932",
    "x-sjis": "cp932",
    "cseuckr": "cp949",
    "csksc56011987": "cp949",
    "iso-ir-149": "cp949",
    "ks_c_5601-1987": "cp949",
    "ks_c_5601-1989": "cp949",
    "ksc_5601": "cp949",
    "windows-949": "cp949",
    "sun_eu_greek": "iso8859-7",
    "greek8": "iso8859-7",
    "x-user-defined": "cp1252",
} | {f"x-cp125{digit}": f"cp125{digit}" for digit in range(9)}

_LABEL: Final = re.compile(r"[a-z0-9_.:-]{1,40}")


def codec_of(label: str) -> str | None:
    """Return the Python codec for a label, in one spelling; None for a label of none."""
    name = label.strip(" \t\n\f\r").lower()
    if not _LABEL.fullmatch(name):
        return None
    known = _LABELS.get(name)
    if known is not None:
        return known
    try:
        return _CODECS.get(codecs.lookup(name).name)
    except LookupError:
        return None
