"""Names to addresses: `Resolver`'s real side.

questions.py  one question to name servers, by c-ares
resolver.py   a host's look-up: which questions, which answers count, in which order
"""

from agent.adapters.dns.questions import NameServers
from agent.adapters.dns.resolver import DnsResolver, ResolverOptions

__all__ = ["DnsResolver", "NameServers", "ResolverOptions"]
