"""The forms of the validators that a later request may carry: they are sent back as they came.

Invariant: a text in one of these forms is one value of one field, whatever it says.
Source: RFC 9110, 8.8.2 (dates, as 5.6.7 prefers them) and 8.8.3 (entity tags).
"""

from __future__ import annotations

import re
from typing import Final

__all__ = ["ETAG", "MODIFIED"]

ETAG: Final = re.compile(r'(?:W/)?"[\x21\x23-\x7e]{0,256}"')
MODIFIED: Final = re.compile(r"[A-Z][a-z]{2}, [0-9]{2} [A-Z][a-z]{2} [0-9]{4} [0-9:]{8} GMT")
