"""A simulated web on loopback: hosts, distances, faults, traps, changing pages, and a judge.

`python -m simweb` starts it, `simweb.launcher.SimulatedWeb` starts it from a test, docs/simweb.md
tells what it can do. The world is a pure function of its options; only time, requests and the
control port change what a running web answers. It never listens outside 127.0.0.0/8.
"""
