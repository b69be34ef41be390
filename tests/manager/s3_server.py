"""A server that speaks S3, with a bucket, for the tests of one module."""

from __future__ import annotations

from collections.abc import Iterator

import httpx
import pytest
from moto.server import ThreadedMotoServer

__all__ = ["s3"]


@pytest.fixture(scope="module")
def s3() -> Iterator[str]:
    """Start a server that speaks S3, with a bucket; give its address."""
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    address = f"http://{host}:{port}"
    assert httpx.put(f"{address}/captures").status_code == 200
    yield address
    server.stop()
