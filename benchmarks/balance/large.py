"""200 agents x 500,000 hosts: seconds, memory, distance from the bound, in a process apart.

By transfer, as in the source, and by the end of the crawl with one thread of each agent.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import time
from dataclasses import asdict, dataclass

import numpy as np

from benchmarks.balance.world import calibrated_world, large_costs
from manager.balancing.arrays import NO_OWNER, Matrix
from manager.balancing.balancers import Options, make_plan
from manager.balancing.forecast.crawl_work import Work
from manager.balancing.forecast.work_duration import Capacity
from manager.balancing.problem import Problem

__all__ = ["Large", "measure_large"]


@dataclass(frozen=True)
class Large:
    """seconds: of planning, from costs to moves. rss_mb: at most, world and costs included.

    over_bound: of the greatest transfer, or of the end. network_ms: bytes times distance by the
    end, 0 by transfer.
    """

    agents: int
    hosts: int
    over_bound: float
    seconds: float
    rss_mb: float
    moves: int
    network_ms: float


def measure_large(agents: int, hosts: int, objective: str = "transfer") -> Large:
    """Plan a first placement by `default` in a child process, with separate memory.

    objective: `transfer` or `end`.
    """
    command = [sys.executable, "-m", "benchmarks.balance.large", str(agents), str(hosts), objective]
    answer = subprocess.run(command, check=True, capture_output=True, text=True)
    return Large(**json.loads(answer.stdout))


def main(agents: int, hosts: int, objective: str) -> None:
    """Measure here and print JSON."""
    costs = large_costs(calibrated_world(0), agents, hosts, 0)
    names = tuple(f"PRS{number:03}" for number in range(agents))
    work = _work(costs) if objective == "end" else None
    problem = Problem(names, costs, np.full(hosts, NO_OWNER, dtype=np.intp), work=work)
    began = time.perf_counter()
    plan = make_plan("default", problem, Options(objective="end"))
    seconds = time.perf_counter() - began
    rss_mb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000
    over, network = plan.above_bound, 0.0
    if plan.time is not None:
        over, network = plan.time.above_bound, plan.time.network_after_ms
    made = Large(agents, hosts, over, seconds, rss_mb, len(plan.moves), network)
    print(json.dumps(asdict(made)))


def _work(costs: Matrix) -> Work:
    """Return the work of agents with one thread each, which wait for nothing."""
    agents, hosts = costs.shape
    ones = np.ones(hosts)
    return Work.of(
        (Capacity(connections=1, burst=0),) * agents, costs, ones, ones, np.arange(hosts)
    )


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3])
