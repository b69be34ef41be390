"""Handlers: the working side of modules, with typed inputs.

    def inputs(self) -> Inputs:
        return {"due": Input(Due, self.handle_due), "tick": Input(Tick, self.handle_tick)}

The method of an input is called `handle_` and the input's name. `Input` binds it to the type of its
messages, so that the type checker compares the two. `input_methods` compares that type with
the graph, and `spec.validate` compares the graph's outputs with its inputs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Protocol, TypeVar, cast

from agent.pipeline.spec import GraphError, Module

__all__ = ["Handle", "Handler", "Input", "Inputs", "Output", "input_methods"]

M = TypeVar("M")

Output = tuple[str, object]  # (output port, message)
Handle = Callable[[Sequence[object]], Iterable[Output]]


class Input:
    """One input of a handler: the type of its messages and the method that takes a batch."""

    __slots__ = ("handle", "message")

    def __init__(self, message: type[M], handle: Callable[[Sequence[M]], Iterable[Output]]) -> None:
        self.message = message
        # The only place that narrows a batch: the graph lets no other message arrive here.
        self.handle = cast(Handle, handle)


Inputs = Mapping[str, Input]


class Handler(Protocol):
    """The working side of a module: one instance a partition."""

    def inputs(self) -> Inputs:
        """Return the inputs by name. The runner asks once, before the first message.

        A method of an input takes a batch that arrived there and returns what leaves, in order. It
        raises nothing for what a site sent: hostile input becomes a message. A handler with an
        input `tick` and a method `wants_tick` receives only the ticks which that accepts.
        """


def input_methods(module: Module, handler: Handler) -> dict[str, Handle]:
    """Return the methods of a module's inputs. Raises GraphError where the handler has others."""
    inputs = handler.inputs()
    if missing := module.inputs.keys() - inputs.keys():
        raise GraphError(
            "agent_errors.graph_handler_lacks", module=module.name, ports=sorted(missing)
        )
    if unknown := inputs.keys() - module.inputs.keys():
        raise GraphError(
            "agent_errors.graph_handler_unknown", module=module.name, ports=sorted(unknown)
        )
    for port, message in module.inputs.items():
        accepted = inputs[port].message
        if not issubclass(message, accepted):
            raise GraphError(
                "agent_errors.graph_handler_type",
                port=f"{module.name}.{port}",
                accepted=accepted.__name__,
                message=message.__name__,
            )
    return {port: one.handle for port, one in inputs.items()}
