"""A graph that could lose a message or stand still is refused."""

from __future__ import annotations

from dataclasses import replace

import pytest

from agent.pipeline.spec import Connection, GraphError, Key, Module, Pipeline, validate

A = Module("a", Key.SINGLE, {"in": str}, {"out": str})
B = Module("b", Key.HOST, {"in": str}, {"out": bool})
SINK = Module("sink", Key.FREE, {"in": int})
SOUND = Pipeline(
    (A, B, SINK),
    (Connection("a.out", "b.in"), Connection("b.out", "sink.in")),
    ("a.in",),
)


def test_a_sound_graph_passes() -> None:
    """Every port is fed or drained, and nothing goes round."""
    validate(SOUND)


@pytest.mark.parametrize(
    ("broken", "message"),
    [
        (replace(SOUND, modules=(A, B, SINK, SINK)), "two modules have one name"),
        (replace(SOUND, outside=()), r"input a\.in has no source"),
        (replace(SOUND, outside=("a.in", "c.in")), r"c\.in: no module c"),
        (replace(SOUND, outside=("a.in", "b.tick")), r"b\.tick: b has no such port"),
        (replace(SOUND, connections=SOUND.connections[:1]), r"output b\.out leads nowhere"),
        (
            replace(SOUND, modules=(A, B, replace(SINK, inputs={"in": int, "more": int}))),
            r"input sink\.more has no source",
        ),
        (
            replace(SOUND, connections=(*SOUND.connections, Connection("b.other", "sink.in"))),
            r"b\.other: b has no such port",
        ),
        (
            replace(SOUND, modules=(replace(A, outputs={"out": str, "log": str}), B, SINK)),
            r"output a\.log leads nowhere",
        ),
    ],
)
def test_unknown_and_loose_ports_are_refused(broken: Pipeline, message: str) -> None:
    """The error names the port."""
    with pytest.raises(GraphError, match=message):
        validate(broken)


def test_a_cycle_needs_somebody_who_spills() -> None:
    """Full mailboxes all round would wait for each other for ever; a disk breaks the circle."""
    first = replace(A, inputs={"in": bool})
    circle = Pipeline((first, B), (Connection("a.out", "b.in"), Connection("b.out", "a.in")))
    with pytest.raises(GraphError, match="cycle a -> b -> a"):
        validate(circle)
    validate(replace(circle, modules=(first, replace(B, spills=True))))


def test_a_message_of_another_type_is_refused() -> None:
    """The error names both ports and both types; a subclass of what an input accepts passes."""
    broken = replace(SOUND, modules=(A, replace(B, outputs={"out": bytes}), SINK))
    with pytest.raises(GraphError, match=r"b\.out sends bytes, but sink\.in accepts int") as caught:
        validate(broken)
    assert caught.value.code == "agent_errors.graph_type"
