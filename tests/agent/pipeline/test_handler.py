"""A handler has the inputs of its module, each of a type that the messages there have."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import pytest

from agent.pipeline.handler import Input, Inputs, Output, input_methods
from agent.pipeline.spec import GraphError, Key, Module


class Adder:
    """Adds numbers."""

    def __init__(self) -> None:
        self.total = 0

    def inputs(self) -> Inputs:
        return {"in": Input(int, self.handle_in)}

    def handle_in(self, batch: Sequence[int]) -> Iterable[Output]:
        self.total += sum(batch)
        yield "out", self.total


def module(**inputs: type) -> Module:
    return Module("adder", Key.SINGLE, {name.strip("_"): one for name, one in inputs.items()})


def test_a_handler_gives_the_method_of_each_input() -> None:
    """What it returns takes batches; messages of a subclass are welcome."""
    methods = input_methods(module(in_=bool), Adder())
    assert list(methods["in"]([True, True])) == [("out", 2)]


@pytest.mark.parametrize(
    ("inputs", "message"),
    [
        ({"in_": int, "tick": int, "list": str}, "adder: the handler has no method for list, tick"),
        ({}, "adder: the handler has methods for unknown inputs in"),
        ({"in_": str}, r"adder\.in: the handler accepts int, but the module receives str"),
        ({"in_": object}, r"adder\.in: the handler accepts int, but the module receives object"),
    ],
)
def test_other_inputs_are_refused(inputs: dict[str, type], message: str) -> None:
    """A message must find a method, and each method its messages."""
    with pytest.raises(GraphError, match=message):
        input_methods(module(**inputs), Adder())
