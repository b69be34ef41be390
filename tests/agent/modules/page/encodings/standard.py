"""The decoders and encoders of the Encoding Standard, step by step, over its own indexes.

Slow and plain, to hold the program's to. The indexes are read from the fixtures and not copied.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

from tests.fixtures_dir import fixture_folder

BAD = "\ufffd"
INDEX_OF = {"gbk": "gb18030", "gb18030": "gb18030", "big5hkscs": "big5", "cp949": "euc-kr"}
ACCENTED = {1133: "\u00ca\u0304", 1135: "\u00ca\u030c", 1164: "\u00ea\u0304", 1166: "\u00ea\u030c"}
GB_PRIVATE = {
    0xE78D: "a6d9",
    0xE78E: "a6da",
    0xE78F: "a6db",
    0xE790: "a6dc",
    0xE791: "a6dd",
    0xE792: "a6de",
    0xE793: "a6df",
    0xE794: "a6ec",
    0xE795: "a6ed",
    0xE796: "a6f3",
    0xE81E: "fe59",
    0xE826: "fe61",
    0xE82B: "fe66",
    0xE82C: "fe67",
    0xE832: "fe6d",
    0xE843: "fe7e",
    0xE854: "fe90",
    0xE864: "fea0",
}


@cache
def index(name: str) -> dict[int, str]:
    """Return an index: pointer to character."""
    text = (fixture_folder("encoding-indexes") / f"index-{name}.txt").read_text()
    rows = (line.split("\t") for line in text.splitlines() if line and not line.startswith("#"))
    return {int(row[0]): chr(int(row[1], 16)) for row in rows}


@cache
def pointer_of(name: str) -> dict[str, int]:
    """Return an index backwards: the first pointer of each character."""
    found: dict[str, int] = {}
    for pointer, one in sorted(index(name).items()):
        found.setdefault(one, pointer)
    return found


def ranged(pointer: int) -> str | None:
    """Return the character of a four-byte pointer of gb18030."""
    if 39419 < pointer < 189000 or pointer > 1237575:
        return None
    if pointer == 7457:
        return "\ue7c7"
    ranges = index("gb18030-ranges")
    start = max(one for one in ranges if one <= pointer)
    return chr(ord(ranges[start]) + pointer - start)


def ranges_pointer(one: str) -> int:
    """Return the four-byte pointer of a character of gb18030."""
    if one == "\ue7c7":
        return 7457
    ranges = index("gb18030-ranges")
    start = max(place for place, first in ranges.items() if first <= one)
    return start + ord(one) - ord(ranges[start])


Step = Callable[["Decoder", int], str | None]


class Decoder:
    """Reads bytes one by one; `pending` are those put back."""

    def __init__(self, codec: str) -> None:
        self.codec = codec
        self.pending: list[int] = []
        self.lead = self.second = self.third = 0
        self.supplement = False
        self.state = self.output_state = "ascii"
        self.output = False

    def read(self, body: bytes) -> str:
        """Return the text of a body."""
        step = STEPS[self.codec]
        self.pending = list(reversed(body))
        out: list[str] = []
        while self.pending:
            out.append(step(self, self.pending.pop()) or "")
        out.append(self.finish())
        return "".join(out)

    def finish(self) -> str:
        """Return what the end of the body adds."""
        if self.codec == "iso2022_jp":
            text = BAD if self.state in ("trail", "escape") else ""
            if self.state == "escape start":
                text = BAD
            if self.state == "escape":  # its first byte is read again
                self.state = self.output_state
                self.pending = [self.lead]
                return text + "".join(filter(None, [self.finish_byte(self.pending.pop())]))
            return text
        return BAD if self.lead or self.second or self.third else ""

    def finish_byte(self, byte: int) -> str:
        """Read one more byte, and the end."""
        return (jp2022(self, byte) or "") + (BAD if self.state == "trail" else "")


def pair(decoder: Decoder, byte: int, pointer: int | None, name: str) -> str:
    """Return the character of a pointer; put an ASCII byte of a malformed pair back."""
    if name == "big5" and pointer in ACCENTED:
        return ACCENTED[pointer]
    found = None if pointer is None else index(name).get(pointer)
    if found is not None:
        return found
    if byte < 0x80:
        decoder.pending.append(byte)
    return BAD


def big5(decoder: Decoder, byte: int) -> str | None:
    """Read a byte of Big5."""
    lead, decoder.lead = decoder.lead, 0
    if lead:
        offset = 0x40 if byte < 0x7F else 0x62
        valid = 0x40 <= byte <= 0x7E or 0xA1 <= byte <= 0xFE
        return pair(decoder, byte, (lead - 0x81) * 157 + byte - offset if valid else None, "big5")
    return plain_or_lead(decoder, byte)


def euc_kr(decoder: Decoder, byte: int) -> str | None:
    """Read a byte of EUC-KR."""
    lead, decoder.lead = decoder.lead, 0
    if lead:
        pointer = (lead - 0x81) * 190 + byte - 0x41 if 0x41 <= byte <= 0xFE else None
        return pair(decoder, byte, pointer, "euc-kr")
    return plain_or_lead(decoder, byte)


def plain_or_lead(decoder: Decoder, byte: int) -> str | None:
    """Read a byte that begins a character."""
    if byte < 0x80:
        return chr(byte)
    if 0x81 <= byte <= 0xFE:
        decoder.lead = byte
        return None
    return BAD


def shift_jis(decoder: Decoder, byte: int) -> str | None:
    """Read a byte of Shift_JIS."""
    lead, decoder.lead = decoder.lead, 0
    if lead:
        pointer = None
        if 0x40 <= byte <= 0x7E or 0x80 <= byte <= 0xFC:
            offset, lead_offset = 0x40 if byte < 0x7F else 0x41, 0x81 if lead < 0xA0 else 0xC1
            pointer = (lead - lead_offset) * 188 + byte - offset
            if 8836 <= pointer <= 10715:
                return chr(0xE000 - 8836 + pointer)
        return pair(decoder, byte, pointer, "jis0208")
    if byte <= 0x80:
        return chr(byte)
    if 0xA1 <= byte <= 0xDF:
        return chr(0xFF61 - 0xA1 + byte)
    if 0x81 <= byte <= 0x9F or 0xE0 <= byte <= 0xFC:
        decoder.lead = byte
        return None
    return BAD


def euc_jp(decoder: Decoder, byte: int) -> str | None:
    """Read a byte of EUC-JP."""
    lead = decoder.lead
    if lead == 0x8E and 0xA1 <= byte <= 0xDF:
        decoder.lead = 0
        return chr(0xFF61 - 0xA1 + byte)
    if lead == 0x8F and 0xA1 <= byte <= 0xFE:
        decoder.supplement, decoder.lead = True, byte
        return None
    if lead:
        decoder.lead = 0
        found = None
        if 0xA1 <= lead <= 0xFE and 0xA1 <= byte <= 0xFE:
            name = "jis0212" if decoder.supplement else "jis0208"
            found = index(name).get((lead - 0xA1) * 94 + byte - 0xA1)
        decoder.supplement = False
        if found is not None:
            return found
        if byte < 0x80:
            decoder.pending.append(byte)
        return BAD
    if byte < 0x80:
        return chr(byte)
    if byte in (0x8E, 0x8F) or 0xA1 <= byte <= 0xFE:
        decoder.lead = byte
        return None
    return BAD


def gb18030(decoder: Decoder, byte: int) -> str | None:
    """Read a byte of gb18030, as of GBK."""
    if decoder.third:
        first, second, third = decoder.lead, decoder.second, decoder.third
        decoder.lead = decoder.second = decoder.third = 0
        if not 0x30 <= byte <= 0x39:
            decoder.pending += [byte, third, second]
            return BAD
        pointer = ((first - 0x81) * 10 + second - 0x30) * 1260 + (third - 0x81) * 10 + byte - 0x30
        return ranged(pointer) or BAD
    if decoder.second:
        if 0x81 <= byte <= 0xFE:
            decoder.third = byte
            return None
        decoder.pending += [byte, decoder.second]
        decoder.lead = decoder.second = 0
        return BAD
    if decoder.lead:
        if 0x30 <= byte <= 0x39:
            decoder.second = byte
            return None
        lead, decoder.lead = decoder.lead, 0
        offset = 0x40 if byte < 0x7F else 0x41
        valid = 0x40 <= byte <= 0x7E or 0x80 <= byte <= 0xFE
        pointer_or_none = (lead - 0x81) * 190 + byte - offset if valid else None
        return pair(decoder, byte, pointer_or_none, "gb18030")
    if byte < 0x80:
        return chr(byte)
    if byte == 0x80:
        return "€"
    if byte == 0xFF:
        return BAD
    decoder.lead = byte
    return None


def jp2022(decoder: Decoder, byte: int) -> str | None:
    """Read a byte of ISO-2022-JP."""
    state = decoder.state
    if state == "escape start":
        if byte in (0x24, 0x28):
            decoder.lead, decoder.state = byte, "escape"
            return None
        decoder.pending.append(byte)
        decoder.output, decoder.state = False, decoder.output_state
        return BAD
    if state == "escape":
        wanted = {
            (0x28, 0x42): "ascii",
            (0x28, 0x4A): "roman",
            (0x28, 0x49): "katakana",
            (0x24, 0x40): "lead",
            (0x24, 0x42): "lead",
        }.get((decoder.lead, byte))
        if wanted:
            decoder.state = decoder.output_state = wanted
            before, decoder.output = decoder.output, True
            return BAD if before else None
        decoder.pending += [byte, decoder.lead]
        decoder.output, decoder.state = False, decoder.output_state
        return BAD
    if byte == 0x1B:
        decoder.state = "escape start"
        return BAD if state == "trail" else None
    if state == "trail":
        decoder.state = "lead"
        if 0x21 <= byte <= 0x7E:
            return index("jis0208").get((decoder.lead - 0x21) * 94 + byte - 0x21, BAD)
        return BAD
    decoder.output = False
    if state == "lead":
        if 0x21 <= byte <= 0x7E:
            decoder.lead, decoder.state = byte, "trail"
            return None
        return BAD
    if state == "katakana":
        return chr(0xFF61 - 0x21 + byte) if 0x21 <= byte <= 0x5F else BAD
    if state == "roman" and byte in (0x5C, 0x7E):
        return "¥" if byte == 0x5C else "‾"
    return chr(byte) if byte < 0x80 and byte not in (0x0E, 0x0F) else BAD


STEPS: dict[str, Step] = {
    "big5hkscs": big5,
    "cp949": euc_kr,
    "cp932": shift_jis,
    "euc_jp": euc_jp,
    "gb18030": gb18030,
    "gbk": gb18030,
    "iso2022_jp": jp2022,
}


def reference(one: str) -> bytes:
    """Return what stands for a character that an encoding lacks."""
    return b"%%26%%23%d%%3B" % ord(one)


def encode_one(one: str, codec: str) -> bytes | None:
    """Return the bytes of a character in an encoding without states; None: it has none."""
    code = ord(one)
    if code < 0x80:
        return one.encode()
    if codec in ("gb18030", "gbk"):
        return encode_gb(one, is_gbk=codec == "gbk")
    if codec == "big5hkscs":
        last = "\u2550\u255e\u2561\u256a\u5341\u5345"
        rows = [p for p, c in index("big5").items() if c == one and p >= (0xA1 - 0x81) * 157]
        if not rows:
            return None
        lead, trail = divmod(max(rows) if one in last else min(rows), 157)
        return bytes((lead + 0x81, trail + (0x40 if trail < 0x3F else 0x62)))
    if codec == "cp949":
        pointer = pointer_of("euc-kr").get(one)
        return None if pointer is None else bytes((pointer // 190 + 0x81, pointer % 190 + 0x41))
    if codec == "cp932" and code == 0x80:
        return b"\x80"
    if one in "¥‾":
        return b"\\" if one == "¥" else b"~"
    if 0xFF61 <= code <= 0xFF9F:
        return (b"" if codec == "cp932" else b"\x8e") + bytes((code - 0xFF61 + 0xA1,))
    one = "\uff0d" if one == "\u2212" else one
    if codec == "cp932":
        found = [p for p, c in index("jis0208").items() if c == one and not 8272 <= p <= 8835]
        if not found:
            return None
        lead, trail = divmod(min(found), 188)
        lead += 0x81 if lead < 0x1F else 0xC1
        return bytes((lead, trail + (0x40 if trail < 0x3F else 0x41)))
    pointer = pointer_of("jis0208").get(one)
    return None if pointer is None else bytes((pointer // 94 + 0xA1, pointer % 94 + 0xA1))


def encode_gb(one: str, *, is_gbk: bool) -> bytes | None:
    """Return the bytes of a character in gb18030 or GBK."""
    if one == "\ue5e5":
        return None
    if is_gbk and one == "€":
        return b"\x80"
    if ord(one) in GB_PRIVATE:
        return bytes.fromhex(GB_PRIVATE[ord(one)])
    pointer = pointer_of("gb18030").get(one)
    if pointer is not None:
        lead, trail = divmod(pointer, 190)
        return bytes((lead + 0x81, trail + (0x40 if trail < 0x3F else 0x41)))
    if is_gbk:
        return None
    rest, fourth = divmod(ranges_pointer(one), 10)
    rest, third = divmod(rest, 126)
    first, second = divmod(rest, 10)
    return bytes((first + 0x81, second + 0x30, third + 0x81, fourth + 0x30))


def encode(text: str, codec: str) -> bytes:
    """Return the bytes of a text, references for what an encoding lacks."""
    if codec != "iso2022_jp":
        return b"".join(encode_one(one, codec) or reference(one) for one in text)
    out, state = b"", "ascii"
    escapes = {"ascii": b"\x1b(B", "roman": b"\x1b(J", "jis": b"\x1b$B"}
    katakana = index("iso-2022-jp-katakana")
    for one in text:
        code = ord(one)
        if one in "\x0e\x0f\x1b" or (code >= 0x80 and one not in "¥‾"):
            full = katakana[code - 0xFF61] if 0xFF61 <= code <= 0xFF9F else one
            full = "\uff0d" if full == "\u2212" else full
            pointer = pointer_of("jis0208").get(full)
            if one in "\x0e\x0f\x1b" or pointer is None or pointer >= 8836:
                if state == "jis":
                    out, state = out + escapes["ascii"], "ascii"
                out += reference("\ufffd" if one in "\x0e\x0f\x1b" else one)
                continue
            wanted, octets = "jis", bytes((pointer // 94 + 0x21, pointer % 94 + 0x21))
        elif one in "¥‾":
            wanted, octets = "roman", b"\\" if one == "¥" else b"~"
        else:
            wanted = "roman" if state == "roman" and one not in "\\~" else "ascii"
            octets = one.encode()
        if wanted != state:
            out, state = out + escapes[wanted], wanted
        out += octets
    return out if state == "ascii" else out + escapes["ascii"]
