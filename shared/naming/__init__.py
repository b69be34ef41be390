"""From host names to addresses: what manager and agents must judge alike.

networks.py   which addresses a robot may be sent to
questions.py  one question to name servers, by c-ares: the only I/O of `shared`
look_up.py    a host's look-up: which questions, which answers count, in which order

Look-ups fail by the codes of `shared.host_failures`.

A host that the manager hands out and the agent refuses is never crawled, and one that only the
agent's rules let through would be the hole; so there is one set of rules, in one place.
"""

from shared.host_failures import (
    LOOK_UP_FAILURES,
    HostFailure,
    failure_words,
    is_naming_failure,
)
from shared.naming.look_up import HostAnswer, look_up
from shared.naming.networks import AddressRules
from shared.naming.questions import (
    KINDS,
    Kind,
    NameServers,
    NoAnswerError,
    NoSuchNameError,
    Question,
    Record,
)

__all__ = [
    "KINDS",
    "LOOK_UP_FAILURES",
    "AddressRules",
    "HostAnswer",
    "HostFailure",
    "Kind",
    "NameServers",
    "NoAnswerError",
    "NoSuchNameError",
    "Question",
    "Record",
    "failure_words",
    "is_naming_failure",
    "look_up",
]
