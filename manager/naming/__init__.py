"""From host names to addresses, before anybody is sent there.

`questions` asks name servers, `networks` knows which addresses are nobody's business, `look_up`
does both for a batch of hosts.
"""

from manager.naming.look_up import HostAnswer, Names, look_up, resolve_due
from manager.naming.networks import AddressRules
from manager.naming.questions import NameServers, NoAnswerError, NoSuchNameError, Record

__all__ = [
    "AddressRules",
    "HostAnswer",
    "NameServers",
    "Names",
    "NoAnswerError",
    "NoSuchNameError",
    "Record",
    "look_up",
    "resolve_due",
]
