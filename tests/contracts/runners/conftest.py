"""The runners that must keep the contract: add a way to build one to `RUNNERS`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import pytest

from agent.pipeline.spec import Key, Pipeline
from agent.runners.in_process import InProcessRunner, Make


class Build(Protocol):
    """Builds a runner for a pipeline."""

    def __call__(
        self,
        pipeline: Pipeline,
        make: Make,
        *,
        choose: Callable[[int], int] | None = None,
        capacity: int = 1024,
        batch: int = 256,
    ) -> InProcessRunner:
        """Return the runner; `choose` tries orders, `capacity` and `batch` bound mailboxes."""
        ...


def _with_partitions(count: int) -> Build:
    def build(
        pipeline: Pipeline,
        make: Make,
        *,
        choose: Callable[[int], int] | None = None,
        capacity: int = 1024,
        batch: int = 256,
    ) -> InProcessRunner:
        partitions = {
            module.name: count for module in pipeline.modules if module.key is not Key.SINGLE
        }
        return InProcessRunner(
            pipeline, make, partitions=partitions, choose=choose, capacity=capacity, batch=batch
        )

    return build


RUNNERS: dict[str, Build] = {
    "one of each": _with_partitions(1),
    "two of everything": _with_partitions(2),
    "five of everything": _with_partitions(5),
}


@pytest.fixture(params=sorted(RUNNERS))
def build(request: pytest.FixtureRequest) -> Build:
    """One kind of runner."""
    return RUNNERS[request.param]
