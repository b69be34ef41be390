"""Throughput of distribution: segments through nginx, and selections."""
