"""Offers segments to a manager that fetches them: a token each, for an hour, renewed in time."""

from __future__ import annotations

import asyncio
import base64
from pathlib import Path
from typing import Any, Final

from agent.collection.orders import Order
from agent.collection.segment_records import SegmentRecord, SegmentRecords
from agent.collection.segment_server import Tokens
from agent.collection.segment_upload import DamagedError
from agent.errors import LinkError
from agent.link.client import ManagerClient
from agent.link.exchange import json_object, read_body
from shared.wire.uploads import FileDigests, digest_file, join_blocks

__all__ = ["RENEW_S", "OfferSender"]

OFFERS: Final = "/api/v1/collection/offers"
UPLOADS: Final = "/api/v1/uploads/"
ANSWER_BYTES: Final = 64 * 1024
RENEW_S: Final = 3000.0  # of the hour for which a token is good


class OfferSender:
    """Lets a manager fetch segments of this home."""

    def __init__(self, manager: ManagerClient, records: SegmentRecords, tokens: Tokens) -> None:
        self._manager = manager
        self._records = records
        self._tokens = tokens
        self._digests: dict[str, FileDigests] = {}

    async def offer(self, order: Order, segment: SegmentRecord) -> str:
        """Offer a segment, or renew its token; return its upload's path.

        Raises LinkError, DamagedError, OSError.
        """
        digests = self._digests.get(segment.name)
        if digests is None:
            path = self._records.segment_folder / segment.name
            digests = await asyncio.to_thread(_digest, path)
            self._digests[segment.name] = digests
        if digests.sha256 != segment.sha256:
            raise DamagedError(segment.name, digests.sha256, segment.sha256)
        token, until_s = self._tokens.mint(segment.name)
        body: dict[str, Any] = {
            "filename": segment.name,
            "sha256": segment.sha256,
            "size_bytes": digests.size_bytes,
            "blocks": base64.b64encode(join_blocks(digests.blocks)).decode("ascii"),
            "token": token,
            "until_ms": until_s * 1000,
        }
        if order.id.isdigit():
            body["order"] = int(order.id)
        async with self._manager.request("POST", OFFERS, json=body) as answer:
            told = json_object(await read_body(answer, ANSWER_BYTES))
        where = told.get("where")
        if not isinstance(where, str) or not where.startswith(UPLOADS):
            raise LinkError("agent_errors.offer_answer")
        return where


def _digest(path: Path) -> FileDigests:
    with path.open("rb") as file:
        return digest_file(file, path.stat().st_size)
