"""Limits that the manager asks for, laid over the site's: they only make a crawl gentler.

Invariant: whatever a manager sends, no interval gets shorter, no limit higher, nothing that the
site blocks gets open. A stolen manager must not own a partner's network; so address ranges,
contact, hours and proxy are not even part of the question.
"""

from __future__ import annotations

import dataclasses

from agent.settings.groups import Settings
from shared.wire import sync

__all__ = ["tightened"]


def tightened(local: Settings, asked: sync.Settings) -> Settings:
    """Return the settings to work under: for each, the stricter of the site's and the manager's.

    The interval asked for is the least for every host, the fast ones too.
    """
    politeness, network = local.politeness, local.network
    if asked.interval_s is not None:
        politeness = dataclasses.replace(
            politeness,
            interval_s=max(politeness.interval_s, asked.interval_s),
            fast_host_interval_s=max(politeness.fast_host_interval_s, asked.interval_s),
        )
    if asked.blocked:
        more = tuple(item for item in asked.blocked if item not in politeness.blocked_url_patterns)
        politeness = dataclasses.replace(
            politeness, blocked_url_patterns=politeness.blocked_url_patterns + more
        )
    if asked.parallel_hosts is not None:
        network = dataclasses.replace(
            network, parallel_hosts=min(network.parallel_hosts, asked.parallel_hosts)
        )
    if asked.bytes_per_s is not None:
        limits = [asked.bytes_per_s, *([network.bytes_per_s] if network.bytes_per_s else [])]
        network = dataclasses.replace(network, bytes_per_s=min(limits))
    return dataclasses.replace(local, politeness=politeness, network=network)
