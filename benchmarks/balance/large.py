"""200 agents x 500,000 hosts: seconds, memory, distance from the bound, in a process apart."""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import time
from dataclasses import asdict, dataclass

import numpy as np

from benchmarks.balance.world import calibrated_world, large_costs
from manager.balancing.arrays import NO_OWNER
from manager.balancing.balancers import make_plan
from manager.balancing.problem import Problem

__all__ = ["Large", "measure_large"]


@dataclass(frozen=True)
class Large:
    """seconds: of planning, from costs to moves. rss_mb: at most, world and costs included."""

    agents: int
    hosts: int
    over_bound: float
    seconds: float
    rss_mb: float
    moves: int


def measure_large(agents: int, hosts: int) -> Large:
    """Plan a first placement by `default` in a child process, with separate memory."""
    command = [sys.executable, "-m", "benchmarks.balance.large", str(agents), str(hosts)]
    answer = subprocess.run(command, check=True, capture_output=True, text=True)
    return Large(**json.loads(answer.stdout))


def main(agents: int, hosts: int) -> None:
    """Measure here and print JSON."""
    costs = large_costs(calibrated_world(0), agents, hosts, 0)
    names = tuple(f"PRS{number:03}" for number in range(agents))
    problem = Problem(names, costs, np.full(hosts, NO_OWNER, dtype=np.intp))
    began = time.perf_counter()
    plan = make_plan("default", problem)
    seconds = time.perf_counter() - began
    rss_mb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000
    made = Large(agents, hosts, plan.above_bound, seconds, rss_mb, len(plan.moves))
    print(json.dumps(asdict(made)))


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
