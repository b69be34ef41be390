"""Operations of the manager: one function a use case, one transaction, one audit row.

An operation takes the open database first, then the caller (`Actor`, or the agent), and the time
as `now_ms`; none reads a clock, waits for a network or knows the web. The pure rules
(`assignment`, `distance`, `balancing`) decide; operations load the input of the rules and store
their results. Every operation may be repeated after a crash or a lost answer.
"""
