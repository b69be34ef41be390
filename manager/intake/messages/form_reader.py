"""Reads forms of browsers: in the server where they are small, else in a worker process."""

from __future__ import annotations

from typing import Final
from urllib.parse import parse_qsl

from shared.errors import FormatError
from shared.frozen import frozen

__all__ = ["FormJob", "form_fields", "read_form"]

FIELDS_MOST: Final = 20_000


@frozen
class FormJob:
    """A form to read. cpu_s: of a processor at most."""

    sender: int
    body: bytes
    cpu_s: float

    cpu_setting = "intake.message_cpu_s"
    is_long = False


def read_form(job: FormJob) -> dict[str, str]:
    """Return the fields of a form; raises FormatError."""
    return form_fields(job.body)


def form_fields(body: bytes) -> dict[str, str]:
    """Return the fields of a form by name, their lines ending with LF; raises FormatError."""
    try:
        fields = parse_qsl(
            body.decode("utf-8", "replace"), keep_blank_values=True, max_num_fields=FIELDS_MOST
        )
    except ValueError as error:
        raise FormatError("uploads.too_many_fields", limit=FIELDS_MOST) from error
    return {name: value.replace("\r\n", "\n") for name, value in fields}
