"""Messages by code: what a program says, kept apart from the sentence that a person reads.

A `Message` is a code and its parameters. Operations raise it (`shared.errors.PrsmError`), return
it, and write it into rows; `render` makes the sentence where it is shown, from the catalogues `en`
and `ja` (a TOML file for each subject, a line for each code). What a page, a command or a mail adds
around a sentence is theirs; this package knows no caller.
"""

from __future__ import annotations

from shared.messages.catalogue import LANGUAGES, SOURCE, codes, template
from shared.messages.language import speak, spoken_language
from shared.messages.message import Message, Value, message_of_row, row_of_message
from shared.messages.render import render

__all__ = [
    "LANGUAGES",
    "SOURCE",
    "Message",
    "Value",
    "codes",
    "message_of_row",
    "render",
    "row_of_message",
    "speak",
    "spoken_language",
    "template",
]
