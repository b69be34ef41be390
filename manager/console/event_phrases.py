"""Why something is as it is, as rows keep it and pages say it in another language.

The sentences are those of operations, clause by clause; a test holds each against them.
"""

from __future__ import annotations

from typing import Final

from manager.console.language import Lazy, lazy

__all__ = ["EVENT_PHRASES", "RESOLVER_PHRASES"]

EVENT_PHRASES: Final[tuple[Lazy, ...]] = (
    # Why somebody owns a unit, or does not any more
    lazy("had no owner"),
    lazy("is pinned to this agent"),
    lazy("cannot stay: its owner does not reach it or may not have it"),
    lazy("joins the other units on its address"),
    lazy("evens the cost"),
    lazy("shares an address with other units of this agent"),
    lazy("shares an address with units of another agent"),
    lazy("found in this round, costs least here"),
    lazy("given to another agent"),
    lazy("in a list that was imported"),
    lazy("its agent is back"),
    lazy("its agent left"),
    lazy("its agent is lost"),
    lazy("its agent never gets this host"),
    lazy("the agent never gets this host"),
    lazy("its host was split"),
    lazy("merged into its host"),
    # What became of probes, crawls and pages fetched again
    lazy("in its log"),
    lazy("its logs have no more lines of it"),
    lazy("its log ended before"),
    lazy("it is not in its log"),
    lazy("finished, but no log of it came"),
    lazy("no log of it came"),
    lazy("took too long"),
    lazy("the probe took too long"),
    lazy("its host was never free"),
    lazy("its agent takes no part any more"),
    lazy("its agent's permit was over"),
    lazy("its agent asked for a new list"),
    lazy("the round is over"),
    lazy("the round was over first"),
    lazy("a round begins"),
    lazy("%(silent)s of %(tried)s agents do not reach it: the host is sick, not the agents"),
    lazy(
        "of %(all)s of its pages that were fetched again, %(number)s were otherwise for two "
        "other agents"
    ),
    lazy("another host has the same address"),
    lazy("its pieces go to one agent"),
    # Pins that do not hold
    lazy("the directory is no unit any more"),
    lazy("the host is excluded"),
    lazy("%(agent)s never gets a host on this address"),
    lazy("%(agent)s is a plain agent and gets whole hosts only"),
    lazy("%(agent)s was retired"),
    lazy("%(agent)s has left"),
    lazy("%(agent)s is lost"),
    lazy("%(agent)s has not called yet"),
    lazy("%(unit)s on the same address is pinned to %(agent)s"),
    lazy("%(unit)s is pinned to %(agent)s, which is ignored"),
    lazy("%(pins)s ignored: %(which)s"),
    lazy("1 pin is"),
    lazy("%(number)s pins are"),
    # How a plan was found
    lazy("prices over all"),
    lazy("prices over the largest %(share)s"),
    lazy("nothing moves but what must"),
    lazy("the busiest are eased"),
    lazy("tree, then exchanges"),
    lazy(
        "No agent reaches all units of %(number)s addresses: they are placed by assumed costs, "
        "for somebody must go on trying"
    ),
    lazy("%(agent)s would collect %(size)s, more than its disk takes"),
    lazy("lp: %(number)s hosts or addresses to place"),
    lazy("lp: HiGHS found no optimum of these costs: use prices"),
    lazy("lp: HiGHS ended with %(status)s: use prices"),
    lazy("not ready within %(time)s s"),
    lazy("%(stay)s: no agent here may own that"),
    lazy("1 unit stays where it is"),
    lazy("%(number)s units stay where they are"),
    lazy("the limit is %(most)s: use prices, which comes within %(share)s"),
    # By the clock
    lazy("began round %(number)s"),
    lazy("skipped: %(why)s"),
    lazy("round %(number)s goes on"),
    lazy("the manager was away at its time"),
    lazy("asked %(number)s agents"),
    lazy("no agent to ask"),
    # Files that come, and jobs
    lazy("%(number)s captures, %(parts)s"),
    lazy("%(number)s of hosts that were not this agent's then: set apart"),
    lazy("%(number)s not to be given away (noindex or noarchive)"),
    lazy("%(number)s of excluded hosts: not kept"),
    lazy("%(file)s: another file came under this name, with SHA-256 %(digest)s"),
    lazy("give each segment a name of its own"),
    lazy(
        "segment name %(name)s: must be letters, digits, dots, hyphens and underscores, and "
        "end with .warc.gz"
    ),
    lazy("%(file)s: all %(number)s captures are of excluded hosts"),
    lazy("delete it"),
    lazy("the segment holds no capture"),
    lazy("there is nothing to keep"),
    lazy("a capture is dated %(number)s minutes after now: set the clock of the agent's machine"),
    lazy("'full' asks again later"),
    lazy("the segment is damaged or cannot be read: %(why)s"),
    lazy("nothing came for too long (collection.upload_keep_s)"),
    lazy("its sender gave it up"),
    lazy("%(name)s gave it up"),
    lazy("%(name)s cancelled it"),
    lazy("its SHA-256 was wrong %(number)s times"),
    lazy("the last was %(digest)s"),
    lazy("its file was lost at the centre"),
    lazy("it is to be sent again"),
    lazy("the centre failed at it (%(error)s)"),
    lazy("its log has more"),
    lazy("%(host)s: its name leads nowhere"),
    lazy("removed by %(name)s"),
    lazy("the manager was restored from a backup"),
    # Agents and updates
    lazy("sequence %(number)s came from process %(one)s after %(before)s from process %(other)s"),
    # What alerts tell that happened once
    lazy("two machines show the key of one agent: %(which)s"),
    lazy("a join token was used again, with another key: %(which)s"),
    lazy("many wrong passwords in a row for one user: %(which)s"),
    lazy("what an agent says does not fit to what the others say: %(which)s"),
    lazy("an agent's captures are otherwise than those of others: %(which)s"),
    lazy("an agent found more new hosts in a day than are taken: %(which)s"),
    lazy("a file of captures was refused: %(which)s"),
    lazy("captures came of hosts that were not their agent's then: %(which)s"),
    lazy("an agent could not send what was ordered: %(which)s"),
    lazy("a control host does not answer most agents: %(which)s"),
    lazy("a host is not shared by several agents any more: %(which)s"),
    lazy("a round did not begin at the time of its schedule: %(which)s"),
    lazy("the centre was restored from a backup"),
    lazy("the manager's clock was set back"),
    lazy("stop one of them, and let the other join again with a new token"),
    lazy("if the site does not know of it, make a new one, which replaces both"),
    lazy("ask that person, and look for the addresses in the log"),
    lazy("its page says more, and when it is sound again"),
    lazy("`prsm audit --alerts` says more"),
    lazy("look at what it finds, or raise limits.discoveries_per_day"),
    lazy("they are set apart"),
    lazy("another takes its place by itself"),
    lazy("exclude again what was excluded since, and revoke again tokens"),
    lazy("keep it right by NTP"),
    lazy("%(number)s times in all"),
    # Names without an address
    lazy("%(host)s has no address: %(why)s"),
    lazy("no answer about %(host)s: %(why)s"),
    lazy("nothing within %(time)s s"),
    lazy("an alias without an address"),
    lazy("forbidden address: %(why)s"),
    lazy("%(address)s is in %(network)s (%(what)s), which is not crawled"),
    lazy("%(address)s is outside %(network)s (public IPv6), and is not crawled"),
)
RESOLVER_PHRASES: Final[tuple[Lazy, ...]] = (
    lazy("Domain name not found"),
    lazy("DNS server returned answer with no data"),
    lazy("DNS server returned general failure"),
    lazy("DNS server refused query"),
    lazy("DNS server claims query was misformatted"),
    lazy("Misformatted domain name"),
    lazy("Misformatted DNS reply"),
    lazy("Could not contact DNS servers"),
    lazy("Timeout while contacting DNS servers"),
)
"""What c-ares says, which asks name servers (`ares_strerror`)."""
