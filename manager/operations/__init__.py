"""Operations of the manager: one function a use case, one transaction, one audit row.

An operation takes the open database first, who asks (`Actor`, or the agent), and the time as
`now_ms`; none reads a clock, waits for a network or knows the web. What is right is decided by
the pure rules (`assignment`, `distance`, `balancing`); operations load what they ask for and store
what they answer. Every operation may be repeated after a crash or a lost answer.
"""
