"""What a worker process says is not believed further than it has its form."""

from __future__ import annotations

from dataclasses import replace

import pytest

from agent.adapters.pages.wire import result_of, results_in
from shared.errors import FormatError
from tests.contracts.pages.case import page
from tests.contracts.pages.program import work


@pytest.mark.parametrize(
    "validators",
    [('"a"\r\nX: y', ""), ("a", ""), ("", "now"), ('"a"', "Sat, 21 Nov 2026 10:00:00 GMT\r\n")],
)
def test_validators_that_are_none_are_refused(validators: tuple[str, str]) -> None:
    """They are sent to a site in a later request: nothing else may ride on them."""
    made = work(page(1), "")
    told = replace(made, processed=replace(made.processed, validators=validators))
    with pytest.raises(FormatError, match="validators"):
        results_in(memoryview(b"".join(result_of(told))), [page(1)])
