"""Result of two rounds: seconds by the clock, and the accuracy of the plan."""

from __future__ import annotations

from typing import Any

__all__ = ["result_of", "table_values"]


def result_of(first: dict[str, Any], second: dict[str, Any]) -> dict[str, float]:
    """Return the figures of a random round and of a balanced one, as `prsm rounds show` says them.

    random_s, balanced_s: from the moment that the units were given out until an agent finished the
    last one; gain: one over the other.
    predicted_s: when the balanced plan said that the crawl ends; measured_s: balanced_s; error:
    that over the prediction, less one. probe_s: the first round's probing, which the second's
    stands on.
    transfer_predicted_ms: the balanced plan's makespan; transfer_measured_ms: the greatest sum of
    milliseconds that an agent then logged; transfer_error: measured over predicted, less one. The
    same of the random round has `random_` before it.
    makespan_*: of the same measurements, as the plan of the second round has them.
    """
    random_s, balanced_s = _crawl_s(first), _crawl_s(second)
    plan = second["plan"]["agents"]
    predicted_s = float(second["plan"]["time"]["end_ms"]) / 1000
    return {
        "predicted_s": round(predicted_s, 1),
        "measured_s": round(balanced_s, 1),
        "error": round(balanced_s / predicted_s - 1, 3),
        "random_s": round(random_s, 1),
        "balanced_s": round(balanced_s, 1),
        "gain": round(random_s / balanced_s, 2),
        **_foreseen("transfer_", second),
        **_foreseen("random_", first),
        "probe_s": round(_probe_s(first), 1),
        "second_probe_s": round(_probe_s(second), 1),
        "bound_ms": round(second["bound_ms"], 1),
        "makespan_random_ms": round(max(agent["before_ms"] for agent in plan), 1),
        "makespan_balanced_ms": round(max(agent["after_ms"] for agent in plan), 1),
        "pages_random": _pages(first),
        "pages": _pages(second),
    }


def table_values(result: dict[str, float], hosts: int) -> dict[str, Any]:
    """Return the result with what the demonstration's table names otherwise."""
    return {
        **result,
        "measured_random_ms": result["random_measured_ms"],
        "measured_balanced_ms": result["transfer_measured_ms"],
        "crawl_random_s": result["random_s"],
        "crawl_balanced_s": result["balanced_s"],
        "hosts": hosts,
        "hosts_discovered": 0,
    }


def _crawl_s(detail: dict[str, Any]) -> float:
    return float(detail["round"]["elapsed_ms"]) / 1000


def _probe_s(detail: dict[str, Any]) -> float:
    about = detail["round"]
    return float(about["crawling_ms"] - about["started_ms"]) / 1000


def _pages(detail: dict[str, Any]) -> int:
    return int(sum(agent["pages"] for agent in detail["agents"]))


def _foreseen(prefix: str, detail: dict[str, Any]) -> dict[str, float]:
    predicted, measured = detail["planned_ms"], detail["round"]["makespan_ms"]
    return {
        f"{prefix}predicted_ms": round(predicted, 1),
        f"{prefix}measured_ms": round(measured, 1),
        f"{prefix}error": round(measured / predicted - 1, 3),
    }
