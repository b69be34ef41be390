"""Keeps a site on the release that people signed for it. Small, rarely changed, blind to the agent.

Run as `python -m launcher --home HOME`, daily by cron or by `prs update`. docs/adr/0116 gives the
layout of HOME; docs/adr/0122 the rules of trust and the order of the steps.

`update` is the order of the steps; `signed_releases` verifies releases by The Update Framework's
client; `manager` is the one way to the network; `bundle` unpacks and installs a release;
`rehearsal` is what its launcher must be able to do before it may take this one's place; `switch`
lets the new release prove itself or goes back; `update_reports` keeps reports for the manager until
they are delivered; `state` is the state that outlives a process, with for how long a release that
could not be installed is left alone; `lock` and `time_limits` ensure that no update lasts for ever.
"""
