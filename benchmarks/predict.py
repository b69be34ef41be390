"""Error of predicted distances: `python -m benchmarks.predict`.

The world of `benchmarks.balance` (17 agents, the source's tables), and one whose affinities are of
rank 3, each probed by some agents a host with 30% of noise. For each number of probes: the median
factor by which predictions of unprobed pairs are off, the same without factors (levels of
agents and hosts only), and how many of the true nearest agents are among the best three of
what is measured or predicted, which are probed before a move. Ends with `RESULT {json}`.
"""

from __future__ import annotations

import argparse
import json
import time
from typing import Final

import numpy as np
import numpy.typing as npt

from benchmarks.balance.world import calibrated_world
from manager.distance.prediction import Probes, fit

Floats = npt.NDArray[np.float64]

HOSTS: Final = 3000
AGENTS: Final = 17
EACH: Final = (3, 5, 8)
NOISE: Final = 0.3
BEST: Final = 3


def ranked_world(seed: int) -> Floats:
    """Draw (agents, hosts) log distances with affinities of rank 3, and a fifth of them chance."""
    rng = np.random.default_rng(seed)
    level = rng.normal(3, 0.8, AGENTS)[:, None] + rng.normal(0, 0.5, HOSTS)
    near = rng.normal(0, 3**-0.5, (AGENTS, 3)) @ rng.normal(0, 1, (3, HOSTS))
    return np.asarray(level + near + rng.normal(0, 0.2, (AGENTS, HOSTS)))


def measure(world: Floats, each: int, rank: int, seed: int = 1) -> tuple[float, float, float]:
    """Return the median factor off, the share of nearest agents among the best three, seconds."""
    rng = np.random.default_rng(seed)
    agents, hosts = world.shape
    agent = np.argsort(rng.random((hosts, agents)), axis=1)[:, :each].ravel()
    host = np.repeat(np.arange(hosts), each)
    noisy = np.exp(world[agent, host] + rng.normal(0, NOISE, len(host)))
    probes = Probes(agent, host, noisy)
    began = time.perf_counter()
    model = fit(probes, agents, hosts, rank=rank)
    assert model is not None
    guessed = np.log(model.predict(model.places(probes, hosts)))
    seconds = time.perf_counter() - began
    missing = np.ones(world.shape, dtype=np.bool_)
    missing[agent, host] = False
    off = float(np.exp(np.median(np.abs(guessed - world)[missing])))
    guessed[agent, host] = np.log(noisy)
    best = np.argsort(guessed, axis=0)[:BEST]
    return off, float((best == world.argmin(axis=0)).any(axis=0).mean()), seconds


def main() -> None:
    """Draw the worlds, predict, print the table."""
    argparse.ArgumentParser(description=str(__doc__).splitlines()[0]).parse_args()
    worlds = {
        "source": np.log(calibrated_world(0, HOSTS).distance),
        "rank 3": ranked_world(0),
    }
    print("world     probes   off by  levels only  nearest in 3  seconds")
    result: dict[str, float] = {}
    for name, world in worlds.items():
        for each in EACH:
            off, found, seconds = measure(world, each, 3)
            plain, _, _ = measure(world, each, 0)
            print(f"{name:8}{each:8}{off:9.2f}{plain:13.2f}{100 * found:12.0f} %{seconds:9.2f}")
            result[f"off_{name.replace(' ', '_')}_{each}"] = round(off, 3)
            result[f"levels_{name.replace(' ', '_')}_{each}"] = round(plain, 3)
            result[f"nearest_{name.replace(' ', '_')}_{each}"] = round(found, 3)
    print("RESULT " + json.dumps(result))


if __name__ == "__main__":
    main()
