"""Keeps a site on the release that people signed for it. Small, rarely changed, blind to the agent.

Run as `python -m launcher --home HOME`, daily by cron or by `prs update`. What stands where in HOME
is said in docs/adr/0116; what is believed, and in which order things happen, in docs/adr/0122.

`update` is the order of the steps; `trusted` asks The Update Framework's client what is genuine;
`manager` is the one way to the network; `bundle` unpacks and has the release install itself;
`rehearsal` is what its launcher must be able to do before it may take this one's place; `switching`
lets the new release prove itself or goes back; `failures` says for how long one that could not be
installed is left alone; `telling` keeps what the manager is to hear of it until it heard it;
`state` is what must not be forgotten; `lock` and `patience` see to it that no update lasts for
ever.
"""
