"""Specification of a pipeline: modules with a partition key and typed ports, and connections.

A pipeline is data. A module handles a batch of messages that arrived at one of its inputs and
returns messages for its outputs; it never waits and does no I/O but through `ports`. Runners
decide where the partitions of a module live; they keep order within a key, bound their mailboxes,
and lose nothing. `validate` refuses a graph that could not keep these promises, or that connects
an output to an input of another message type.
Source: seed 000, sections 3 and 4 (modules, queues, Switcher, hash of host, URL or address).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import field
from enum import Enum

from shared.errors import PrsmError
from shared.frozen import frozen

__all__ = ["Connection", "GraphError", "Key", "Module", "Pipeline", "validate"]


class GraphError(PrsmError):
    """A pipeline names a port that does not exist, mixes types, or could deadlock."""


class Key(Enum):
    """Partition key: the attribute of a message that decides which partition handles it."""

    HOST = "host"
    URL = "url"
    IP = "address"
    FREE = "free"  # the module keeps no state: any partition will do
    SINGLE = "single"  # one instance only


@frozen
class Module:
    """A step of the crawl.

    inputs, outputs: the message type of each port, by name. spills: input that waits here waits on
    disk, so the module can always take more, which breaks a cycle of full mailboxes.
    """

    name: str
    key: Key
    inputs: Mapping[str, type]
    outputs: Mapping[str, type] = field(default_factory=dict)
    spills: bool = False


@frozen
class Connection:
    """From an output to an input, both written `module.port`.

    to_all: every partition of the receiver gets the message (a change of rules or of the time).
    """

    source: str
    target: str
    to_all: bool = False


@frozen
class Pipeline:
    """The whole graph. `outside`: inputs that the runner or an adapter feeds."""

    modules: tuple[Module, ...]
    connections: tuple[Connection, ...]
    outside: tuple[str, ...] = ()


def validate(pipeline: Pipeline) -> None:
    """Refuse a graph with unknown, unconnected or unlike ports, or a cycle in which nothing spills.

    Raises GraphError, which names the ports or the cycle.
    """
    modules = {module.name: module for module in pipeline.modules}
    if len(modules) != len(pipeline.modules):
        raise GraphError("agent_errors.graph_same_names")
    fed = set(pipeline.outside)
    drained: set[str] = set()
    for connection in pipeline.connections:
        sent = _port_type(modules, connection.source, "outputs")
        accepted = _port_type(modules, connection.target, "inputs")
        if not issubclass(sent, accepted):
            raise GraphError(
                "agent_errors.graph_type",
                output=connection.source,
                sent=sent.__name__,
                input=connection.target,
                accepted=accepted.__name__,
            )
        drained.add(connection.source)
        fed.add(connection.target)
    for target in pipeline.outside:
        _port_type(modules, target, "inputs")
    for module in pipeline.modules:
        for port in module.inputs:
            if f"{module.name}.{port}" not in fed:
                raise GraphError("agent_errors.graph_input", port=f"{module.name}.{port}")
        for port in module.outputs:
            if f"{module.name}.{port}" not in drained:
                raise GraphError("agent_errors.graph_output", port=f"{module.name}.{port}")
    _check_cycles(modules, pipeline.connections)


def _port_type(modules: dict[str, Module], name: str, side: str) -> type:
    """Return the message type of a port. Raises GraphError where there is no such port."""
    module_name, _, port = name.partition(".")
    module = modules.get(module_name)
    if module is None:
        raise GraphError("agent_errors.graph_module", port=name, module=module_name)
    ports = module.inputs if side == "inputs" else module.outputs
    if port not in ports:
        raise GraphError(
            f"agent_errors.graph_{side}", port=name, module=module_name, ports=tuple(ports)
        )
    return ports[port]


def _check_cycles(modules: dict[str, Module], connections: Iterable[Connection]) -> None:
    # Without the modules that spill, what is left must have no cycle: depth-first search.
    edges: dict[str, list[str]] = {
        name: [] for name, module in modules.items() if not module.spills
    }
    for connection in connections:
        source, target = connection.source.split(".")[0], connection.target.split(".")[0]
        if source in edges and target in edges:
            edges[source].append(target)
    done: set[str] = set()
    path: list[str] = []

    def visit(name: str) -> None:
        """Raise GraphError where a module waits for itself."""
        if name in path:
            cycle = " -> ".join([*path[path.index(name) :], name])
            raise GraphError("agent_errors.graph_cycle", cycle=cycle)
        if name in done:
            return
        path.append(name)
        for following in edges[name]:
            visit(following)
        path.pop()
        done.add(name)

    for name in edges:
        visit(name)
