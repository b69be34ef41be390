"""Sentences that rows held up to schema 0047, by what they were about, with their codes.

A pattern is a sentence with `%(name)s` where a value stood; the name is that of the parameter. The
third element says how a value is read (`migrations.sentence_codes`); a pair is a message, a number
a value that the sentence did not have.
"""

from __future__ import annotations

from typing import Any, Final

__all__ = ["COLUMNS", "SENTENCES"]

Sentence = tuple[str, str] | tuple[str, str, dict[str, Any]]

COLUMNS: Final[tuple[tuple[str, str, tuple[str, ...]], ...]] = (
    ("assignments", "reason_opened", ("ownership", "planning")),
    ("assignments", "reason_closed", ("ownership", "planning")),
    ("holdings", "reason", ("ownership", "planning")),
    ("hosts", "resolve_problem", ("naming",)),
    ("pins", "reason", ("ownership",)),
    ("agents", "suspect_reason", ("suspects",)),
    ("agents", "state_reason", ("agents",)),
    ("agents", "clone_reason", ("alerts",)),
    ("agents", "update_result", ("updates",)),
    ("rounds", "reason", ("planning",)),
    ("unit_rounds", "reason", ("planning",)),
    ("probe_orders", "reason", ("planning",)),
    ("refetch_orders", "reason", ("planning",)),
    ("round_schedules", "last_result", ("schedules",)),
    ("collection_schedules", "last_result", ("schedules", "segments")),
    ("transfers", "result", ("segments",)),
    ("collection_orders", "result", ("segments",)),
    ("file_problems", "detail", ("segments", "archive_files")),
    ("archive_jobs", "problem", ("segments",)),
    ("downloads", "problem", ("segments",)),
    ("alerts_told", "text", ("alerts",)),
)
"""Tables, columns, and which sentences may stand in them."""

SENTENCES: Final[dict[str, tuple[Sentence, ...]]] = {
    "ownership": (
        ("plan %(plan)s: %(method)s", "ownership.by_plan", {"plan": "int"}),
        ("moved by hand", "ownership.moved_by_hand"),
        ("pinned to this agent", "ownership.pinned"),
        ("%(agent)s never gets %(host)s", "ownership.agent_banned"),
        ("its host was split", "ownership.host_split"),
        ("shares an address with other units of this agent", "ownership.same_address"),
        ("found in this round, costs least here", "ownership.new_cheapest"),
        ("its agent is back", "ownership.owner_back"),
        (
            "its agent is a plain one by now, which gets whole hosts only",
            "ownership.owner_is_plain",
        ),
        ("merged into its host", "ownership.merged"),
        ("excluded", "ownership.host_excluded"),
        ("its agent was retired", "ownership.owner_retired"),
        ("its agent left", "ownership.owner_left"),
        ("its agent is lost", "ownership.owner_lost"),
        ("finished", "ownership.finished"),
        ("acknowledged", "ownership.acknowledged"),
        ("shares an address with units of another agent", "ownership.address_of_other"),
        ("given to another agent", "ownership.given_to_other"),
        ("the agent never gets this host", "ownership.banned"),
        ("its agent's permit was over", "ownership.permit_over"),
        ("the manager was restored from a backup", "general.manager_restored"),
        ("the round is over", "ownership.round_over"),
        ("a round begins", "ownership.round_begins"),
        ("the round was cancelled", "rounds.cancelled"),
        ("the probe took too long", "planning.too_slow"),
        ("took too long", "planning.too_slow"),
        ("in a list that was imported", "ownership.in_imported_list"),
    ),
    "suspects": (
        (
            ("none of its %(hosts)s control hosts answers it, and they answer the other agents"),
            "distance.controls_silent",
            {"hosts": "int", "others": ("distance.other_agents", {})},
        ),
        (
            "none of its %(hosts)s control hosts answers it, and they answer its neighbours",
            "distance.controls_silent",
            {"hosts": "int", "others": ("distance.neighbours", {})},
        ),
        (
            "its control hosts are %(times)s times slower than for the other agents",
            "distance.controls_slower",
            {"times": "times", "others": ("distance.other_agents", {})},
        ),
        (
            "its control hosts are %(times)s times slower than for its neighbours",
            "distance.controls_slower",
            {"times": "times", "others": ("distance.neighbours", {})},
        ),
        (
            "its control hosts are %(times)s times faster than for the other agents",
            "distance.controls_faster",
            {"times": "fraction", "others": ("distance.other_agents", {})},
        ),
        (
            "its control hosts are %(times)s times faster than for its neighbours",
            "distance.controls_faster",
            {"times": "fraction", "others": ("distance.neighbours", {})},
        ),
        (
            (
                "of %(compared)s of its pages that were fetched again, %(contradicted)s were "
                "otherwise for two other agents"
            ),
            "assignment.refetched_otherwise",
            {"compared": "int", "contradicted": "int"},
        ),
        (
            "it claims to be %(times)s times nearer to hosts than most others are",
            "measurement.too_near",
            {"times": "times"},
        ),
        (
            "its times of %(units)s units are %(times)s times longer than its own of before",
            "measurement.doubt_times_longer_history",
            {"units": "int", "times": "times"},
        ),
        (
            ("its times of %(units)s units are %(times)s times longer than those of the others"),
            "measurement.doubt_times_longer_others",
            {"units": "int", "times": "times"},
        ),
        (
            (
                "its times of %(units)s units are %(times)s times longer than the manager's "
                "clock says"
            ),
            "measurement.doubt_times_longer_clock",
            {"units": "int", "times": "times"},
        ),
        (
            ("its times of %(units)s units are %(times)s times shorter than its own of before"),
            "measurement.doubt_times_shorter_history",
            {"units": "int", "times": "fraction"},
        ),
        (
            ("its times of %(units)s units are %(times)s times shorter than those of the others"),
            "measurement.doubt_times_shorter_others",
            {"units": "int", "times": "fraction"},
        ),
        (
            (
                "its times of %(units)s units are %(times)s times shorter than the manager's "
                "clock says"
            ),
            "measurement.doubt_times_shorter_clock",
            {"units": "int", "times": "fraction"},
        ),
        (
            "its bytes of %(units)s units are %(times)s times more than its own of before",
            "measurement.doubt_bytes_more_history",
            {"units": "int", "times": "times"},
        ),
        (
            "its bytes of %(units)s units are %(times)s times more than those of the others",
            "measurement.doubt_bytes_more_others",
            {"units": "int", "times": "times"},
        ),
        (
            "its bytes of %(units)s units are %(times)s times fewer than its own of before",
            "measurement.doubt_bytes_fewer_history",
            {"units": "int", "times": "fraction"},
        ),
        (
            ("its bytes of %(units)s units are %(times)s times fewer than those of the others"),
            "measurement.doubt_bytes_fewer_others",
            {"units": "int", "times": "fraction"},
        ),
        (
            "its lines of %(units)s units are %(times)s times more than in the crawl before",
            "measurement.doubt_lines_more_history",
            {"units": "int", "times": "times"},
        ),
        (
            "its lines of %(units)s units are %(times)s times more than those of the others",
            "measurement.doubt_lines_more_others",
            {"units": "int", "times": "times"},
        ),
        (
            ("its lines of %(units)s units are %(times)s times fewer than in the crawl before"),
            "measurement.doubt_lines_fewer_history",
            {"units": "int", "times": "fraction"},
        ),
        (
            ("its lines of %(units)s units are %(times)s times fewer than those of the others"),
            "measurement.doubt_lines_fewer_others",
            {"units": "int", "times": "fraction"},
        ),
        (
            "its times of %(units)s units are partly far from its own of before",
            "measurement.doubt_times_scattered_history",
            {"units": "int"},
        ),
        (
            "its times of %(units)s units are partly far from those of the others",
            "measurement.doubt_times_scattered_others",
            {"units": "int"},
        ),
        (
            "its times of %(units)s units are partly far from what the manager's clock says",
            "measurement.doubt_times_scattered_clock",
            {"units": "int"},
        ),
        (
            "its bytes of %(units)s units are partly far from its own of before",
            "measurement.doubt_bytes_scattered_history",
            {"units": "int"},
        ),
        (
            "its bytes of %(units)s units are partly far from those of the others",
            "measurement.doubt_bytes_scattered_others",
            {"units": "int"},
        ),
        (
            "its lines of %(units)s units are partly far from those of the crawl before",
            "measurement.doubt_lines_scattered_history",
            {"units": "int"},
        ),
        (
            "its lines of %(units)s units are partly far from those of the others",
            "measurement.doubt_lines_scattered_others",
            {"units": "int"},
        ),
    ),
    "naming": (
        ("no answer about %(name)s: %(reason)s", "naming.no_answer", {"reason": "message"}),
        ("%(name)s has no address: %(reason)s", "naming.no_address", {"reason": "message"}),
        ("forbidden address: %(reason)s", "naming.forbidden_address", {"reason": "message"}),
        ("%(address)s is no address of the kind %(kind)s", "naming.other_family"),
        (
            "%(address)s is in %(network)s (%(use)s), which is not crawled",
            "naming.refused_network",
            {"use": "message"},
        ),
        (
            "%(address)s is outside %(network)s (public IPv6), and is not crawled",
            "naming.outside_public",
        ),
        ("nothing within %(limit_s)s s", "naming.nothing_within", {"limit_s": "float"}),
        ("not a name that can be asked for (%(reason)s)", "naming.not_a_name"),
        ("an alias without an address", "naming.alias_alone"),
        ("DNS server returned answer with no data", "naming.no_data"),
        ("DNS server claims query was misformatted", "naming.query_misformatted"),
        ("DNS server returned general failure", "naming.general_failure"),
        ("Domain name not found", "naming.not_found"),
        ("DNS server does not implement requested operation", "naming.not_implemented"),
        ("DNS server refused query", "naming.refused"),
        ("Misformatted domain name", "naming.name_misformatted"),
        ("Misformatted DNS reply", "naming.reply_misformatted"),
        ("Could not contact DNS servers", "naming.no_contact"),
        ("Timeout while contacting DNS servers", "naming.timeout"),
        ("No DNS servers were configured", "naming.no_servers"),
        ("this network", "naming.this_network"),
        ("private", "naming.private"),
        ("shared by providers, and a cloud's metadata", "naming.provider"),
        ("loopback", "naming.loopback"),
        ("a cloud's metadata", "naming.cloud_metadata"),
        ("link-local, and clouds' metadata", "naming.link_local_metadata"),
        ("protocol assignments, and a cloud's metadata", "naming.assignments_metadata"),
        ("documentation", "naming.documentation"),
        ("6to4 relays", "naming.relays_6to4"),
        ("benchmarks", "naming.benchmarks"),
        ("multicast", "naming.multicast"),
        ("reserved, broadcast", "naming.reserved"),
        ("unspecified", "naming.unspecified"),
        ("IPv4 in IPv6", "naming.ipv4_in_ipv6"),
        ("protocol assignments, Teredo", "naming.assignments_teredo"),
        ("6to4, leads to IPv4", "naming.wrapped_6to4"),
        ("link-local", "naming.link_local"),
    ),
    "planning": (
        ("cancelled by %(name)s", "general.cancelled_by"),
        ("the round was cancelled", "rounds.cancelled"),
        ("the round was over first", "rounds.ended_first"),
        ("in its log", "planning.in_its_log"),
        ("its agent asked for a new list", "planning.new_list_requested"),
        ("its logs have no more lines of it", "planning.no_longer_logged"),
        ("its log ended before", "planning.log_ended"),
        ("its agent was away", "planning.agent_absent"),
        ("its agent takes no part any more", "planning.agent_not_taking_part"),
        ("its agent left", "ownership.owner_left"),
        ("its agent never gets this host", "ownership.banned"),
        ("merged into its host", "ownership.merged"),
        ("excluded", "ownership.host_excluded"),
        ("took too long", "planning.too_slow"),
        ("finished, but no log of it came", "planning.no_log_after_finish"),
        ("no log of it came", "planning.no_log"),
        ("it is not in its log", "planning.not_in_log"),
        ("its host was never free", "planning.host_busy"),
    ),
    "schedules": (
        ("began round %(number)s", "rounds.began", {"number": "int"}),
        (
            "skipped: round %(number)s goes on",
            "rounds.skipped",
            {"why": ("rounds.running", {"number": "int"})},
        ),
        (
            "skipped: the manager was away at its time",
            "rounds.skipped",
            {"why": ("rounds.late", {})},
        ),
        (
            "skipped: no agent has called yet: let one join with `prsm agents token`",
            "rounds.skipped",
            {"why": ("rounds.no_agent", {})},
        ),
        (
            (
                "skipped: no host has an address yet: import hosts, wait until their names "
                "were looked up (`prsm hosts import FILE --wait`, `prsm status`)"
            ),
            "rounds.skipped",
            {"why": ("rounds.no_address", {})},
        ),
        ("skipped: %(why)s", "rounds.skipped", {"why": "message"}),
        ("time zone '%(zone)s': not known here; write it as Asia/Tokyo", "times.unknown_zone"),
    ),
    "segments": (
        ("%(captures)s captures", "segments.accepted", {"captures": "int"}),
        ("%(captures)s capture", "segments.accepted", {"captures": "int"}),
        (
            "%(captures)s captures, %(parts)s",
            "segments.accepted_in_parts",
            {"captures": "int", "parts": "parts"},
        ),
        (
            "%(captures)s capture, %(parts)s",
            "segments.accepted_in_parts",
            {"captures": "int", "parts": "parts"},
        ),
        (
            "%(captures)s captures; replaced nothing",
            "segments.nothing_repaired",
            {"captures": "int"},
        ),
        (
            "%(captures)s captures; replaced %(segments)s",
            "segments.repaired",
            {"captures": "int", "segments": "list"},
        ),
        (
            (
                "segment name %(name)s: must be letters, digits, dots, hyphens and "
                "underscores, and end with .warc.gz"
            ),
            "segments.bad_name",
            {"name": "literal"},
        ),
        (
            "all %(captures)s captures are of excluded hosts; delete it",
            "segments.all_excluded",
            {"captures": "int"},
        ),
        (
            (
                "another file came under this name, with SHA-256 %(sha256)s; give each "
                "segment a name of its own"
            ),
            "segments.name_taken",
        ),
        ("the segment holds no capture; there is nothing to keep", "segments.empty"),
        (
            (
                "a capture is dated %(ahead_ms)s minutes after now: set the clock of the "
                "agent's machine; 'full' asks again later"
            ),
            "segments.capture_in_future",
            {"ahead_ms": "minutes"},
        ),
        (
            "the segment is damaged or cannot be read: %(problem)s",
            "segments.unreadable",
            {"problem": "message"},
        ),
        ("nothing came for too long (collection.upload_keep_s)", "segments.upload_expired"),
        ("its sender gave it up", "segments.cancelled_by_sender"),
        ("%(name)s gave it up", "general.cancelled_by"),
        (
            "its SHA-256 was wrong %(checks)s times; the last was %(sha256)s",
            "segments.wrong_sha256",
            {"checks": "int"},
        ),
        ("its file was lost at the centre; it is to be sent again", "segments.file_lost"),
        ("the centre failed at it (%(error)s); its log has more", "segments.manager_failed"),
        ("the manager was restored from a backup", "general.manager_restored"),
        ("the agent answered %(status)s: %(answer)s", "segments.pull_refused", {"status": "int"}),
        (
            "the agent's answer ended at %(at)s of %(size)s",
            "segments.pull_ended",
            {"at": "int", "size": "int"},
        ),
        (
            (
                "%(place)s shows a certificate with the SHA-256 %(shown)s, and the agent "
                "said %(expected)s: somebody else answers, or `prs serve` made a new one"
            ),
            "segments.pull_certificate",
        ),
        ("%(host)s: its name leads nowhere", "segments.pull_no_address"),
        (
            "%(host)s: %(why)s (naming.allowed_networks)",
            "segments.pull_address",
            {"why": "message"},
        ),
        (
            (
                "the agent sends %(range)s, and bytes %(start)s to the end of %(size_bytes)s "
                "were asked for"
            ),
            "segments.pull_range",
            {"range": "literal", "start": "int", "size_bytes": "int"},
        ),
        (
            (
                "the disk of %(folder)s is full (%(why)s); nothing was kept. The "
                "administrator must make room; then send it again"
            ),
            "store.disk_full",
        ),
        (
            (
                "the disk of the centre has %(free_bytes)s bytes free, %(needed_bytes)s more "
                "are needed and %(reserve_bytes)s stay in reserve "
                "(collection.reserve_bytes); what has arrived is kept. The administrator "
                "must make room; then go on"
            ),
            "store.no_room_for_segments",
            {"free_bytes": "int", "needed_bytes": "int", "reserve_bytes": "int"},
        ),
        (
            (
                "the process that was to do this died; nothing was kept. Try again; if it "
                "happens each time, the administrator should look at the manager's log"
            ),
            "uploads.worker_died",
        ),
        (
            (
                "the process that was to do this died (it may take %(memory_bytes)s bytes of "
                "memory and %(cpu_s)s s of a processor); nothing was kept. Try again; if it "
                "happens each time, the administrator should look at the manager's log"
            ),
            "uploads.worker_died_in_limits",
            {"memory_bytes": "int", "cpu_s": "float"},
        ),
        ("the manager stops: try again when it is back", "uploads.manager_stops"),
        ("%(name)s cancelled it", "general.cancelled_by"),
        ("asked %(agents)s agents", "segments.agents_asked", {"agents": "int"}),
        ("asked %(agents)s agent", "segments.agents_asked", {"agents": "int"}),
        ("no agent to ask", "segments.no_agent_asked", {"agents": 0}),
        (
            "%(found_bytes)s bytes instead of %(expected_bytes)s",
            "segments.size_differs",
            {"found_bytes": "int", "expected_bytes": "int"},
        ),
        (
            "%(found_bytes)s byte instead of %(expected_bytes)s",
            "segments.size_differs",
            {"found_bytes": "int", "expected_bytes": "int"},
        ),
        ("SHA-256 %(found)s instead of %(expected)s", "segments.digest_differs"),
        ("it is no file, but a folder, pipe or device", "segments.not_a_file"),
        ("it holds bytes that are no text", "segments.not_text"),
        ("its last line is cut off", "segments.last_line_incomplete"),
        ("names %(name)s, which is no segment", "segments.names_no_segment"),
        ("removed by %(name)s", "archive.job_removed_by"),
        ("a host of it was withdrawn; submit it again", "archive.host_withdrawn"),
        ("the manager was restored from a backup; submit it again", "archive.manager_restored"),
        (
            (
                "the captures of one host need more than archive.memory_bytes: raise it, or "
                "ask for less of the host by time"
            ),
            "archive.host_memory",
        ),
        (
            (
                "an index of segments could not be read; where its segment was rewritten in "
                "the meantime, ask again (%(why)s)"
            ),
            "archive.index_unreadable",
        ),
        ("segment %(segment)s: is shorter than its index says", "segments.shorter_than_index"),
        (
            (
                "segment %(key)s is not in %(store)s: put it back from the last copy of the "
                "data directory"
            ),
            "segments.file_missing",
        ),
        (
            "segment %(key)s is not in %(store)s: put it back from the last copy",
            "segments.file_missing",
        ),
        ("the connection ended", "archive.connection_ended"),
        ("took nothing for %(idle_s)s s", "archive.receiver_idle", {"idle_s": "float"}),
        ("the token is not good any more", "archive.token_invalid"),
        ("it was withdrawn", "archive.file_withdrawn"),
        ("%(host)s was withdrawn while it was given; ask again", "archive.withdrawn_meanwhile"),
    ),
    "parts": (
        (
            "%(captures)s of hosts that were not this agent's then: set apart",
            "segments.part_quarantined",
            {"captures": "int"},
        ),
        (
            "%(captures)s not to be given away (noindex or noarchive)",
            "segments.part_withheld",
            {"captures": "int"},
        ),
        (
            "%(captures)s of excluded hosts: not kept",
            "segments.part_discarded",
            {"captures": "int"},
        ),
    ),
    "archive_files": (
        (
            "offset %(offset)s: %(problem)s",
            "archive_files.damage",
            {"offset": "int", "problem": "message"},
        ),
        ("no gzip member begins here, but %(found)s", "archive_files.no_member"),
        ("the file ends inside this gzip member", "archive_files.member_cut"),
        ("gzip member is damaged: %(reason)s", "archive_files.member_damaged"),
        ("something lies between two records", "archive_files.bytes_between"),
        ("something lies behind the last record", "archive_files.bytes_behind"),
        ("request without its response", "archive_files.request_alone"),
        ("the file is empty", "archive_files.empty_file"),
        ("the file is not compressed", "archive_files.not_compressed"),
        ("the first record is no warcinfo", "archive_files.no_warcinfo"),
        ("more than one record in a gzip member", "archive_files.several_records"),
        ("gzip header differs from that of the first member", "archive_files.member_header"),
        ("HTTP header without an end", "archive_files.http_header_open"),
        ("body stored with its transfer encoding", "archive_files.transfer_encoding"),
        ("%(name)s missing, computed %(computed)s", "archive_files.digest_missing"),
        ("%(name)s %(claim)s, computed %(computed)s", "archive_files.digest_wrong"),
        (
            "record ends %(missing)s bytes before its Content-Length",
            "archive_files.record_cut",
            {"missing": "int"},
        ),
        ("record does not end with two line ends", "archive_files.record_end"),
        (
            "record header of more than %(most)s bytes",
            "archive_files.long_record_header",
            {"most": "int"},
        ),
        ("no record begins here, but %(found)s", "archive_files.no_record", {"found": "literal"}),
        ("the record header is not UTF-8", "archive_files.header_not_utf8"),
        ("the record has no %(name)s", "archive_files.field_missing"),
        (
            "header line %(line)s has no field name",
            "archive_files.header_line",
            {"line": "literal"},
        ),
        (
            "Content-Length %(value)s: must be a number of bytes",
            "archive_files.content_length",
            {"value": "literal"},
        ),
        (
            "WARC-Date %(date)s: must be like 2026-01-02T03:04:05Z",
            "archive_files.date_form",
            {"date": "literal"},
        ),
        ("WARC-Date %(date)s: %(_reason)s", "archive_files.no_such_date", {"date": "literal"}),
        (
            "IP address %(address)s: no IPv4 or IPv6 address",
            "archive_files.ip_address",
            {"address": "literal"},
        ),
        (
            "IP address %(address)s: WARC-IP-Address has no zone",
            "archive_files.ip_zone",
            {"address": "literal"},
        ),
        (
            "WARC-Profile %(profile)s: no profile of WARC/1.1",
            "archive_files.unknown_profile",
            {"profile": "literal"},
        ),
        ("the file's SHA-256 is %(computed)s, expected %(expected)s", "archive_files.file_digest"),
        ("the file ends before its %(size)s bytes", "archive_files.file_shorter", {"size": "int"}),
        ("no capture begins here", "archive_files.no_capture"),
    ),
    "alerts": (
        (
            (
                "sequence %(sequence)s came from process %(process)s after %(before)s from "
                "process %(other)s"
            ),
            "fleet.clone_sequence",
            {"sequence": "int", "before": "int"},
        ),
        ("it was retired and gets no work any more", "fleet.state_retired"),
        ("it left by M5 and gets no work; /servlets/subscribe brings it back", "fleet.state_left"),
        ("it has never called", "fleet.new_agent"),
        ('%(what)s; it says "%(words)s"', "fleet.says", {"what": "message", "words": "message"}),
        (
            (
                "last heard %(silent_ms)s ago; it was expected %(overdue_ms)s ago, and its "
                "permit is over: others take its units"
            ),
            "fleet.state_lost",
            {"silent_ms": "duration", "overdue_ms": "duration"},
        ),
        (
            (
                "last heard %(silent_ms)s ago; it was expected %(overdue_ms)s ago; others "
                "take its units in %(left_ms)s"
            ),
            "fleet.state_late",
            {"silent_ms": "duration", "overdue_ms": "duration", "left_ms": "duration"},
        ),
        (
            "it calls, holds %(units)s units, but never fetched a page",
            "fleet.idle_units_never",
            {"units": "int"},
        ),
        (
            "it calls, holds %(units)s unit, but never fetched a page",
            "fleet.idle_units_never",
            {"units": "int"},
        ),
        (
            "it calls, has %(urls)s URLs, but never fetched a page",
            "fleet.idle_urls_never",
            {"urls": "int"},
        ),
        (
            "it calls, has %(urls)s URL, but never fetched a page",
            "fleet.idle_urls_never",
            {"urls": "int"},
        ),
        (
            "it calls, holds %(units)s units, but fetched nothing for %(idle_ms)s",
            "fleet.idle_units_since",
            {"units": "int", "idle_ms": "duration"},
        ),
        (
            "it calls, holds %(units)s unit, but fetched nothing for %(idle_ms)s",
            "fleet.idle_units_since",
            {"units": "int", "idle_ms": "duration"},
        ),
        (
            "it calls, has %(urls)s URLs, but fetched nothing for %(idle_ms)s",
            "fleet.idle_urls_since",
            {"urls": "int", "idle_ms": "duration"},
        ),
        (
            "it calls, has %(urls)s URL, but fetched nothing for %(idle_ms)s",
            "fleet.idle_urls_since",
            {"urls": "int", "idle_ms": "duration"},
        ),
        (
            "agent %(name)s is idle: %(why)s; its log, or `prs status` there, says why",
            "alerts.agent_idle",
            {"why": "message"},
        ),
        ("agent %(name)s is %(state)s: %(why)s", "alerts.agent_state", {"why": "message"}),
        (
            (
                "agent %(name)s has %(free_bytes)s GB of disk left; its site must free some, "
                "or it fetches nothing any more"
            ),
            "alerts.agent_disk",
            {"free_bytes": "gigabytes"},
        ),
        (
            (
                "agent %(name)s has a clock that differs by %(skew_ms)s; its site must set "
                "it, and keep it right by NTP"
            ),
            "alerts.agent_clock",
            {"skew_ms": "duration"},
        ),
        (
            (
                "agent %(name)s holds %(reports)s reports that did not arrive; its log, or "
                "`prs status` there, says why"
            ),
            "alerts.agent_reports",
            {"reports": "int"},
        ),
        (
            (
                "agent %(name)s did not update to %(version)s and went back at the step "
                "%(step)s: %(detail)s"
            ),
            "alerts.agent_went_back_detail",
        ),
        (
            ("agent %(name)s did not update to %(version)s and went back at the step %(step)s"),
            "alerts.agent_went_back",
        ),
        (
            (
                "agent %(name)s did not update to %(version)s: %(outcome)s at the step "
                "%(step)s: %(detail)s"
            ),
            "alerts.agent_not_updated_detail",
        ),
        (
            "agent %(name)s did not update to %(version)s: %(outcome)s at the step %(step)s",
            "alerts.agent_not_updated",
        ),
        (
            (
                "manager %(place)s has given no sign of life for %(silent_ms)s; if it was "
                "taken away for good, run `prsm managers forget %(name)s`"
            ),
            "alerts.manager_silent",
            {"silent_ms": "duration"},
        ),
        (
            "%(moves)s units changed hands in a day, more than %(limit)s",
            "alerts.churn",
            {"moves": "int", "limit": "int"},
        ),
        (
            (
                "the folder of the centre's files cannot be looked at: %(problem)s; mount it "
                "again, or see database.files"
            ),
            "alerts.disk_unreadable",
        ),
        (
            (
                "the centre has %(free_bytes)s GB of disk left; alerts.disk_bytes wants "
                "%(least_bytes)s GB; free some, or add room: below limits.reserve_bytes no "
                "uploads are taken"
            ),
            "alerts.disk_low",
            {"free_bytes": "gigabytes", "least_bytes": "gigabytes"},
        ),
        ("no round has begun for %(days)s days", "alerts.round_late", {"days": "int"}),
        (
            (
                "no round has ever begun, and the first agent joined %(days)s days ago; "
                "begin one by `prsm rounds start`, or set alerts.round_days = 0"
            ),
            "alerts.round_never",
            {"days": "int"},
        ),
        (
            (
                "no backup was made for %(days)s days; the log of prsm-backup.service, or of "
                "cron, says why"
            ),
            "alerts.backup_late",
            {"days": "int"},
        ),
        (
            (
                "no backup was ever made, and the first agent joined %(days)s days ago; run "
                "`prsm backup` by cron, or set alerts.backup_days = 0 where backups are made "
                "otherwise"
            ),
            "alerts.backup_never",
            {"days": "int"},
        ),
        ("the TLS certificate", "alerts.certificate"),
        ("release %(role)s", "alerts.release_role"),
        ("%(what)s ends in %(days)s days", "alerts.expires", {"what": "message", "days": "int"}),
        ("%(what)s ends in %(days)s day", "alerts.expires", {"what": "message", "days": "int"}),
        ("%(what)s ended %(days)s days ago", "alerts.expired", {"what": "message", "days": "int"}),
        ("%(what)s ended %(days)s day ago", "alerts.expired", {"what": "message", "days": "int"}),
        (
            (
                "the manager has no address of %(failed)s of %(tried)s hosts; "
                "alerts.hosts_share wants %(share)s; %(why)s; see naming.servers, then look "
                "up again by `prsm hosts resolve`"
            ),
            "alerts.hosts_not_named",
            {"failed": "int", "tried": "int", "share": "percent", "why": "failures"},
        ),
        (
            (
                "agent %(name)s found no address of %(failed)s of %(tried)s hosts; "
                "alerts.hosts_share wants %(share)s; %(why)s; `prs doctor` there says what "
                "its name servers answer"
            ),
            "alerts.hosts_not_named_by_agent",
            {"failed": "int", "tried": "int", "share": "percent", "why": "failures"},
        ),
        (
            (
                "agent %(name)s reached nothing of %(failed)s of %(tried)s hosts; "
                "alerts.hosts_share wants %(share)s; %(why)s; `prs doctor --page URL` there "
                "tries the way to a host"
            ),
            "alerts.hosts_not_reached",
            {"failed": "int", "tried": "int", "share": "percent", "why": "failures"},
        ),
        ("nobody is told by %(way)s: %(why)s", "alerts.delivery_failing", {"why": "message"}),
    ),
    "agents": (
        ("drained by `prs drain`; `prs resume` takes part again", "agent.drained_by_site"),
        ("drained by the manager", "agent.drained_by_manager"),
        ("paused by `prs pause`; `prs resume` goes on", "agent.paused_by_site"),
        ("paused by the manager", "agent.paused_by_manager"),
        ("nothing to do", "agent.nothing_to_do"),
        ("a single call", "agent.single_sync"),
        ("outside the hours of this site; they begin never", "agent.no_hours"),
        (
            "outside the hours of this site; they begin %(day)s %(time)s",
            "agent.outside_hours",
            {"day": "weekday"},
        ),
        (
            "no permit: no sync was answered yet",
            "agent.no_permit",
            {"why": ("agent.no_sync_yet", {})},
        ),
        (
            "no permit: the manager granted no permit",
            "agent.no_permit",
            {"why": ("agent.permit_not_granted", {})},
        ),
        (
            "no permit: the work was handed back",
            "agent.no_permit",
            {"why": ("agent.work_handed_back", {})},
        ),
        (
            "no permit: the last one is over, and no new one came",
            "agent.no_permit",
            {"why": ("agent.permit_over", {})},
        ),
        ("no permit: %(why)s", "agent.no_permit"),
        ("disk full: %(why)s", "agent.disk_full"),
        (
            (
                "%(free_bytes)s bytes are free on the disk of %(folder)s, and "
                "disk.reserve_bytes = %(reserve_bytes)s are left to others; the crawl goes "
                "on when there is room"
            ),
            "agent.disk_reserve",
            {"free_bytes": "int", "reserve_bytes": "int"},
        ),
        (
            (
                "%(reports)s reports with %(size_bytes)s bytes wait for the manager, more "
                "than disk.outbox_bytes = %(limit_bytes)s; the crawl goes on when they are "
                "sent"
            ),
            "agent.outbox_full",
            {"reports": "int", "size_bytes": "int", "limit_bytes": "int"},
        ),
        (
            (
                "%(fetched_bytes)s bytes were fetched in %(month)s, and network.month_bytes "
                "= %(limit_bytes)s; the crawl goes on with the next month"
            ),
            "agent.month_over",
            {"fetched_bytes": "int", "limit_bytes": "int"},
        ),
        (
            (
                "the load of this machine is %(load)s a core, and pages.most_load = "
                "%(limit)s; the crawl goes on when it is calmer"
            ),
            "agent.load_high",
            {"load": "float", "limit": "float"},
        ),
        ("got %(signal)s", "agent.stop_signal"),
        ("an error", "agent.stop_error"),
        ("the manager refused this agent", "agent.stop_refused"),
        ("the manager that answers is not this agent's own", "agent.stop_other_manager"),
        ("drained, and all is reported", "agent.stop_drained"),
        ("the hours of this site are over, and all is reported", "agent.stop_hours_over"),
        ("this site has no hours today, and all is reported", "agent.stop_no_hours_today"),
        ("all units are finished, and all is reported", "agent.stop_all_finished"),
        (
            ("%(failed)s of %(units)s units failed, the others are finished, and all is reported"),
            "agent.stop_some_failed",
            {"failed": "int", "units": "int"},
        ),
    ),
    "updates": (
        ("%(version)s: updated. %(detail)s", "releases.updated_with_detail"),
        ("%(version)s: updated.", "releases.updated"),
        ("%(version)s: updated", "releases.updated"),
        ("%(version)s: %(outcome)s at %(step)s. %(detail)s", "releases.not_updated_because"),
        ("%(version)s: %(outcome)s at %(step)s.", "releases.not_updated"),
        ("%(version)s: %(outcome)s at %(step)s", "releases.not_updated"),
    ),
}
