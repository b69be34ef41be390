"""Rules of rights, permits, groups and liveness: pure functions over numbers and names.

`permits` limits how long an agent keeps its rights without contact; `liveness` judges the state of
an agent; `groups` joins hosts that share an address; `host_shares` divides a host's request rate
among several agents; `probe_plan` chooses the pairs to probe; `refetch_rules` compares pages that
were fetched again; `right_history` finds the right that an agent had to a page at a time. Time is a
parameter; nothing here reads a clock, a table or a file.
"""
