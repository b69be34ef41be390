"""`prsm explain-tree`: Give and Move of one step on a tree in a file; no manager is needed.

The file is JSON, `{"costs": {"A": 10, ...}, "edges": [["A", "C"], ...]}`. Invariant: what is
computed is a tree of the named agents, or the command refuses with the place that is wrong.
Source: seed 004, section 5.2.1, steps 1 and 2; figure 8.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from difflib import get_close_matches
from operator import itemgetter
from typing import TYPE_CHECKING, Any, BinaryIO, Final

import click

from manager.cli import output
from manager.cli.manager_client import RefusedError
from manager.cli.options import json_option
from shared.errors import PrsmError

if TYPE_CHECKING:
    from manager.balancing.give_and_move import GiveAndMove

__all__ = ["explain_tree", "read_tree"]

MOST_BYTES: Final = 1_000_000
MOST_AGENTS: Final = 1_000
"""The largest fleet that is planned for; the figure indents by one step for each neighbour."""
MOST_COST: Final = 1e15
"""30,000 years of milliseconds; sums of a thousand stay exact to the ms."""

Tree = tuple[list[str], list[tuple[int, int]], list[float]]


@click.command("explain-tree")
@click.argument("file", type=click.File("rb"))
@json_option
def explain_tree(file: BinaryIO, as_json: bool) -> None:
    """Show what neighbours on a tree would hand each other in one step.

    FILE (or - for standard input) is JSON: {"costs": {"A": 10, "C": 6}, "edges": [["A", "C"]]}.
    Costs may have any unit; edges join the names to a tree.

    Give(A,B) is what A wants to hand to B, Move(A,B) what A hands to B in the end: negative is the
    other way round. Each edge has one Move, in the direction in which the file names it.
    """
    # numpy takes longer to load than all other commands run.
    from manager.balancing.give_and_move import explain  # noqa: PLC0415 - see above

    try:
        names, edges, costs = read_tree(file.read(MOST_BYTES + 1))
        step = explain(names, edges, costs)
    except PrsmError as error:
        where = getattr(file, "name", "-")
        raise RefusedError(f"{where}: {error}") from error
    if as_json:
        output.as_json(_as_values(step))
        return
    for line in _figure(step):
        output.say(line)
    output.say()
    output.table(
        _edges_of(step),
        "One agent has no neighbour: nothing moves.",
        output.Column("A", itemgetter(0)),
        output.Column("B", itemgetter(1)),
        output.Column("Give(A,B)", itemgetter(2), "{:g}".format),
        output.Column("Give(B,A)", itemgetter(3), "{:g}".format),
        output.Column("Move(A,B)", itemgetter(4), "{:g}".format),
    )
    output.say(
        f"\nThe greatest cost is {step.costs.max():g} before and {step.after.max():g} after the"
        " step; what moves is counted at its giver."
    )


def read_tree(text: bytes) -> Tree:
    """Return names, edges as pairs of indices, and costs. Raises ExplainError, which says where."""
    if len(text) > MOST_BYTES:
        raise ExplainError(f"more than {MOST_BYTES:,} bytes: no tree of agents is that long")
    try:
        given = json.loads(text.decode("utf-8-sig"), object_pairs_hook=_object)
    except (ValueError, RecursionError) as error:
        raise ExplainError(f"is no JSON: {error}") from error
    if not isinstance(given, dict):
        raise ExplainError(f'is {_shown(given)}: must be {{"costs": ..., "edges": ...}}')
    for key in given:
        if key not in {"costs", "edges"}:
            raise ExplainError(f'"{key}": unknown; there are "costs" and "edges"')
    costs = _costs(given.get("costs"))
    names = list(costs)
    return names, _edges(given.get("edges"), names), list(costs.values())


class ExplainError(PrsmError):
    """The file does not describe a tree of agents."""


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made: dict[str, Any] = {}
    for name, value in pairs:
        if name in made:
            raise ExplainError(f"{_shown(name)} stands there twice: name it once")
        made[name] = value
    return made


def _costs(given: Any) -> dict[str, float]:
    if not isinstance(given, dict) or not given:
        raise ExplainError('"costs" must be an object with a number for each name, as {"A": 10}')
    if len(given) > MOST_AGENTS:
        raise ExplainError(f'"costs" has {len(given):,} names: at most {MOST_AGENTS:,}')
    costs: dict[str, float] = {}
    for name, cost in given.items():
        if not name.strip():
            raise ExplainError('"costs" has a name without a letter: give each agent a name')
        if isinstance(cost, bool) or not isinstance(cost, int | float):
            raise ExplainError(f"the cost of {_shown(name)} is {_shown(cost)}: must be a number")
        if not 0 <= cost <= MOST_COST or not math.isfinite(cost):
            raise ExplainError(
                f"the cost of {_shown(name)} is {_shown(cost)}: must be from 0 to {MOST_COST:g}"
            )
        costs[name] = float(cost)
    return costs


def _edges(given: Any, names: list[str]) -> list[tuple[int, int]]:
    """Return the edges as indices; refuse what is no spanning tree of the names."""
    if not isinstance(given, list):
        raise ExplainError('"edges" must be a list of pairs of names, as [["A", "C"]]')
    place = {name: index for index, name in enumerate(names)}
    root = list(range(len(names)))
    edges = []
    for number, edge in enumerate(given, 1):
        if not isinstance(edge, list) or len(edge) != 2:
            raise ExplainError(f"edge {number} is {_shown(edge)}: must be a pair of names")
        for name in edge:
            if not isinstance(name, str) or name not in place:
                near = get_close_matches(name, names, n=1) if isinstance(name, str) else []
                hint = f"; did you mean {_shown(near[0])}?" if near else ""
                raise ExplainError(f"edge {number} names {_shown(name)}, which has no cost{hint}")
        first, second = place[edge[0]], place[edge[1]]
        ends = _top(root, first), _top(root, second)
        if first == second:
            raise ExplainError(f"edge {number} joins {_shown(edge[0])} with itself: leave it out")
        if ends[0] == ends[1]:
            raise ExplainError(
                f"edge {number} joins {_shown(edge[0])} and {_shown(edge[1])}, which are joined"
                " already: a tree has no cycle"
            )
        root[ends[0]] = ends[1]
        edges.append((first, second))
    alone = next((name for name in names if _top(root, place[name]) != _top(root, 0)), None)
    if alone is not None:
        raise ExplainError(
            f"no edges lead from {_shown(names[0])} to {_shown(alone)}:"
            f" a tree of {len(names)} names has {len(names) - 1} edges, there are {len(edges)}"
        )
    return edges


def _top(root: list[int], place: int) -> int:
    while root[place] != place:
        root[place] = root[root[place]]
        place = root[place]
    return place


def _shown(value: Any) -> str:
    """Return a value as the file may have written it, short."""
    text = json.dumps(value, ensure_ascii=True)
    return text if len(text) <= 60 else text[:57] + "..."


def _as_values(step: GiveAndMove) -> dict[str, Any]:
    """Return Give both ways and Move of each edge, and the costs after the step."""
    gives, moves = [], []
    for first, second, ab, ba, moved in _edges_of(step):
        gives += [[first, second, ab], [second, first, ba]]
        moves.append([first, second, moved])
    after = dict(zip(step.names, step.after.tolist(), strict=True))
    return {"give": gives, "move": moves, "after": after}


def _edges_of(step: GiveAndMove) -> Iterator[tuple[str, str, float, float, float]]:
    """Yield the names of each edge, Give both ways, and Move."""
    for (a, b), (ab, ba), moved in zip(
        step.edges.tolist(), step.gives.tolist(), step.moves.tolist(), strict=True
    ):
        yield step.names[a], step.names[b], ab, ba, moved


def _figure(step: GiveAndMove) -> list[str]:
    """Draw the tree from its first name on: costs before and after, and Move on each edge."""
    near: list[list[tuple[int, float]]] = [[] for _ in step.names]
    for (a, b), moved in zip(step.edges.tolist(), step.moves.tolist(), strict=True):
        near[a].append((b, moved))
        near[b].append((a, -moved))
    lines = []
    waiting: list[tuple[int, int, str, str, str]] = [(0, -1, "", "", "")]
    while waiting:
        agent, parent, branch, below, moved_words = waiting.pop()
        cost, after = step.costs[agent], step.after[agent]
        lines.append(f"{branch}{step.names[agent]} {cost:g} -> {after:g}{moved_words}")
        children = [(child, moved) for child, moved in near[agent] if child != parent]
        for number, (child, moved) in reversed(list(enumerate(children))):
            last = number == len(children) - 1
            name, above = step.names[child], step.names[agent]
            giver, taker = (above, name) if moved > 0 else (name, above)
            words = f"  ({giver} gives {taker} {abs(moved):g})" if moved else "  (nothing moves)"
            waiting.append(
                (
                    child,
                    agent,
                    below + ("`- " if last else "|- "),
                    below + ("   " if last else "|  "),
                    words,
                )
            )
    return [output.printable(line) for line in lines]
