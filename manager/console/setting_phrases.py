"""What each setting means, as the page of settings says it in another language.

The sentences are those of `manager/settings`, clause by clause; a test holds each against them.
"""

from __future__ import annotations

from typing import Final

from manager.console.language import Lazy, lazy

__all__ = ["SETTING_PHRASES"]

SETTING_PHRASES: Final[tuple[Lazy, ...]] = (
    lazy("reachable by others only when somebody decides so"),
    lazy("needs no root"),
    lazy("0 takes any free port"),
    lazy("what agents and links use"),
    lazy("empty: made from host and port"),
    lazy("the prsm commands' way in"),
    lazy("empty: prsm.sock in the data directory"),
    lazy("PEM chain"),
    lazy("empty: plain HTTP, then keys are taken from loopback only"),
    lazy("PEM private key of tls_certificate"),
    lazy("a proxy in front ends TLS and sets X-Forwarded-Proto and -For"),
    lazy("who reads metrics sees how large the crawl is"),
    lazy("for Prometheus"),
    lazy("0: no metrics"),
    lazy("json: one object a line, for machines"),
    lazy("requests under way may end"),
    lazy("systemd waits 90 s"),
    lazy("empty: SQLite in the data directory"),
    lazy("or postgresql://user@host/name for replicas"),
    lazy("crawl logs and refused bodies"),
    lazy(
        "empty: the data directory. Several managers on one database need a folder that all "
        "of them see"
    ),
    lazy("of several managers the leader is replaced when it is silent for so long"),
    lazy("the outage that agents survive, and the delay of a take-over"),
    lazy("an agent may be this much later than it promised before it is lost"),
    lazy("an agent of the five messages sleeps by day and calls once a night"),
    lazy("how soon a report leads to the next list"),
    lazy("a tick with nothing to do is cheap"),
    lazy("more than this between two ticks was an outage or a clock that jumped"),
    lazy("how often an agent syncs"),
    lazy("1,000 agents are then 17 requests a second"),
    lazy("the same when there is something for the agent to take"),
    lazy("of the whole fleet"),
    lazy("a larger one is told to call less often"),
    lazy("what the source measures a host with"),
    lazy("a distance older than this is measured again"),
    lazy("50 pages at 20 s take 17 minutes"),
    lazy("an order this old goes back to the queue"),
    lazy("the same for a plain agent: two nights and a day"),
    lazy("after the last unit was finished"),
    lazy("then its log counts as lost"),
    lazy("hosts times agents"),
    lazy("above, a host is probed by some agents only"),
    lazy("by so many: its finder, its owner, neighbours of these, the rest by its number"),
    lazy("that each agent probes with every round, to tell a sick agent from a sick host"),
    lazy("one host may be slow from one place, of three two may not"),
    lazy("a control host that was probed within it is not probed again"),
    lazy("an agent is suspect whose control hosts are so much slower or faster than for others"),
    lazy("the source's slowest agent was 17 times slower than the median"),
    lazy(
        "an agent that claims to be nearer than a tenth of what a quarter of the others "
        "measured is believed that tenth"
    ),
    lazy("on the same campus it may be that near"),
    lazy(
        "a host is with one agent at a time, and 50 pages at 20 s take 17 minutes: so many "
        "take half a day"
    ),
    lazy("of one agent: 20,000 hosts of 50 pages, a day of a machine that fetches 12 a second"),
    lazy("what is over it is predicted"),
    lazy("the largest hosts, half of all bytes, are probed by everybody"),
    lazy(
        "of one agent, and at most twice the hosts that it fetches from in parallel: while "
        "it has them nobody else can probe them"
    ),
    lazy(
        "of an agent's requests in a round, fetched again by other agents and compared: an "
        "agent that invents is found, and hosts hardly notice"
    ),
    lazy("0: none"),
    lazy("of a round and agent: a hundredth of a small crawl is too little to judge by"),
    lazy("of a round and agent: more do not make the judgement surer"),
    lazy("pages of a unit that others found"),
    lazy("more are not kept"),
    lazy(
        "of the placed units that the default method may move in a round: a unit is fetched "
        "whole by its new agent"
    ),
    lazy(
        "at a tenth the makespan stays within 4% of the bound, and without a limit half of "
        "the units would move in each round"
    ),
    lazy("a name is asked about again after a week"),
    lazy("after a failure"),
    lazy("doubled with each, up to a day"),
    lazy("for the methods that were not chosen, when a plan is previewed"),
    lazy("a person waits"),
    lazy("between two requests to a split host, whoever sends them"),
    lazy("as agents keep it alone"),
    lazy("what one step of a tick handles of one agent"),
    lazy("a partner installs within a long week-end"),
    lazy("a forgotten token must die"),
    lazy("bodies of the administrators' requests"),
    lazy("10,000 finished units with long names are 5 MB"),
    lazy("ten million hosts to import"),
    lazy("streamed, so this is disk, not memory"),
    lazy("a body of discovered hosts (M2)"),
    lazy("the same, decoded"),
    lazy("a wild or hostile agent must not fill the table of hosts"),
    lazy("a crawl log (M3): 40 million lines at 100 bytes compressed"),
    lazy("the others are told to come back (503)"),
    lazy("of one agent"),
    lazy("it has a log a night"),
    lazy("who opens a connection and never finishes a request head is cut off"),
    lazy("an upload that sends nothing is given up"),
    lazy("slower than any modem, faster than who only wants to hold a connection"),
    lazy("disk left free by uploads, so that the database can still write"),
    lazy("each costs a file and some KB"),
    lazy("more are answered 503"),
    lazy("one keeps up with 100 agents of 50,000 hosts"),
    lazy("of DuckDB in each worker"),
    lazy("it spills to disk beyond"),
    lazy("of a processor for one log: 20 million lines"),
    lazy("a bomb must not hold a worker"),
    lazy("lines of crawl logs, since they came"),
    lazy("0: for ever"),
    lazy("their sums are kept as well"),
    lazy("bodies that were refused, for the administrator to look at"),
    lazy("all of them together"),
    lazy("oldest go first"),
    lazy("segments: empty: a folder beside the logs"),
    lazy(
        "or s3://bucket/prefix, with AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY in the "
        "environment. Indexes stay here"
    ),
    lazy("of an object store that is not Amazon's"),
    lazy("empty: Amazon's"),
    lazy("empty: AWS_REGION, or us-east-1"),
    lazy("read segments that came"),
    lazy("one reads 5 MB/s"),
    lazy("of DuckDB for an index, and for all selections that are being sent"),
    lazy("that are made while they are sent"),
    lazy("one token has two. More are answered 429 or 503"),
    lazy("of a processor to read one segment strictly"),
    lazy("how often what was withdrawn is rewritten"),
    lazy("results of third parties' jobs"),
    lazy("who follows yearly may"),
    lazy("who takes nothing for so long is given up"),
    lazy(
        "as `/prsm-archive/`: where the web server in front finds the folder `archive`, so "
        "that it sends the files (X-Accel-Redirect)"
    ),
    lazy("empty: the manager sends them"),
    lazy("empty: those of this machine"),
    lazy("`127.0.0.1:5353` for a test"),
    lazy("of one question to one name server"),
    lazy("UDP loses packets"),
    lazy("what a site's name server bears"),
    lazy("one look-up round of the clock"),
    lazy("of the refused ranges (private, loopback, link-local, ...), those that may be crawled"),
    lazy('["127.0.0.0/8"] for the simulated web'),
    lazy("of a segment"),
    lazy("agents seal at 1 GB"),
    lazy("of one agent at a time"),
    lazy("it sends one"),
    lazy("1 MB of memory each"),
    lazy("more are told to wait"),
    lazy("an upload to which nothing comes is thrown away"),
    lazy("agents may sleep over a weekend"),
    lazy("of disk that segments leave free"),
    lazy("a failed transfer"),
    lazy("the source"),
    lazy("weekly transfer logs"),
    lazy("a working day, then log in again"),
    lazy("whom owners of sites can write to, shown at /console/robot"),
    lazy("empty: the agents'"),
    lazy("the socket of the signing process, which alone can read its keys"),
    lazy("wheels for six platforms are 500 MB"),
    lazy("empty: no mail is sent"),
    lazy("of whom the mail is"),
    lazy("a mail server of this machine"),
    lazy("587 with a login"),
    lazy("STARTTLS"),
    lazy("not needed on loopback"),
    lazy("empty: no login"),
    lazy("keep prsm.toml readable by you only"),
    lazy("is posted JSON"),
    lazy("empty: none"),
    lazy("signs what is posted (HMAC-SHA256)"),
    lazy("between two looks"),
    lazy("what goes on is told again"),
    lazy("an agent that did not call as promised"),
    lazy("an agent that fetches nothing, or whose disk, clock or reports are amiss"),
    lazy("another manager that gives no sign of life: one is left, or none"),
    lazy("the database does not answer: each manager tells it by itself"),
    lazy("changed hands: agents come and go"),
    lazy("of the centre's disk left"),
    lazy("before a certificate ends"),
    lazy("without a new round"),
    lazy("without a backup"),
)
