"""Audit actions in words, shown beside the keys that scripts and filters use.

A key that is missing here is shown unchanged: a manager of another release may have written it.
"""

from __future__ import annotations

from functools import cache

from manager.console.language import current, pgettext

__all__ = ["act", "acts_about", "known_acts"]


def act(key: str) -> str:
    """Return an action in the language of this request; for `unit.pin`: "unit pinned"."""
    return _acts(current()).get(key, key)


def known_acts() -> dict[str, str]:
    """Return all acts by their keys, in words."""
    return _acts(current())


def acts_about() -> dict[str, str]:
    """Return what acts are about: by the beginning of their keys, in words."""
    return _about(current())


@cache
def _about(_language: str) -> dict[str, str]:
    return {
        "agent.": pgettext("about", "agents"),
        "alert.": pgettext("about", "alerts and events"),
        "alerts.": pgettext("about", "maintenance windows and test messages"),
        "archive.": pgettext("about", "adoption of files"),
        "block.": pgettext("about", "block list"),
        "changes.": pgettext("about", "changes of the archive"),
        "client.": pgettext("about", "third parties"),
        "clock.": pgettext("about", "clock jumps"),
        "collection.": pgettext("about", "collection and its schedules"),
        "export.": pgettext("about", "exports"),
        "file.": pgettext("about", "kept files"),
        "fleet.": pgettext("about", "politeness of all agents"),
        "host.": pgettext("about", "hosts"),
        "index.": pgettext("about", "indexes of segments"),
        "installation.": pgettext("about", "the installation"),
        "job.": pgettext("about", "jobs"),
        "list.": pgettext("about", "lists"),
        "manager.": pgettext("about", "managers and backups"),
        "pages.": pgettext("about", "pages"),
        "permit.": pgettext("about", "permits"),
        "plan.": pgettext("about", "plans"),
        "probe.": pgettext("about", "probes"),
        "release.": pgettext("about", "releases of agents"),
        "report.": pgettext("about", "logs"),
        "round.": pgettext("about", "rounds"),
        "schedule.": pgettext("about", "schedules of rounds"),
        "segment.": pgettext("about", "segments"),
        "token.": pgettext("about", "API tokens"),
        "transfer.": pgettext("about", "transfers"),
        "trash.": pgettext("about", "trash"),
        "unit.": pgettext("about", "units"),
        "user.": pgettext("about", "users"),
    }


@cache
def _acts(_language: str) -> dict[str, str]:
    return {
        # Agents
        "agent.believe": pgettext("act", "agent believed"),
        "agent.clone": pgettext("act", "key of one agent in use on two machines"),
        "agent.command": pgettext("act", "command ordered for an agent"),
        "agent.command-done": pgettext("act", "command completed"),
        "agent.compare": pgettext("act", "captures compared with other agents'"),
        "agent.discovered-too-much": pgettext("act", "too many hosts discovered"),
        "agent.enrol": pgettext("act", "agent joined"),
        "agent.given-back": pgettext("act", "units returned to an agent"),
        "agent.key": pgettext("act", "agent changed its key"),
        "agent.list-limit": pgettext("act", "page limit of an agent's list set"),
        "agent.lost": pgettext("act", "agent lost"),
        "agent.position": pgettext("act", "position of an agent set"),
        "agent.retire": pgettext("act", "agent retired"),
        "agent.revoke-token": pgettext("act", "join token revoked"),
        "agent.sound": pgettext("act", "agent no longer suspect"),
        "agent.subscribe": pgettext("act", "agent returned"),
        "agent.suspect": pgettext("act", "agent suspect"),
        "agent.taken-over": pgettext("act", "units of an agent taken over"),
        "agent.token": pgettext("act", "join token created"),
        "agent.token-reused": pgettext("act", "join token reused"),
        "agent.unsubscribe": pgettext("act", "agent left"),
        "agent.update-failed": pgettext("act", "update failed"),
        "agent.update-refused": pgettext("act", "update refused"),
        "agent.update-unreached": pgettext("act", "no manager reached for updates"),
        "agent.update-updated": pgettext("act", "agent updated"),
        "agent.update-went-back": pgettext("act", "update rolled back"),
        # Alerts
        "alert.begun": pgettext("act", "alert sent"),
        "alert.event": pgettext("act", "event alert sent"),
        "alert.over": pgettext("act", "end of an alert sent"),
        "alert.silence": pgettext("act", "alert silenced"),
        "alert.speak": pgettext("act", "silence of an alert ended"),
        "alert.still": pgettext("act", "alert repeated"),
        "alerts.speak": pgettext("act", "maintenance window ended"),
        "alerts.test": pgettext("act", "test alert sent"),
        "alerts.window": pgettext("act", "maintenance window set"),
        # Rules of the whole fleet
        "block.add": pgettext("act", "blocked patterns added"),
        "block.remove": pgettext("act", "blocked patterns removed"),
        "fleet.limits": pgettext("act", "politeness of all agents set"),
        # Third parties and what they take
        "archive.adopt": pgettext("act", "files of the archive adopted"),
        "changes.forget": pgettext("act", "old changes of the archive deleted"),
        "client.disable": pgettext("act", "third party disabled"),
        "client.enable": pgettext("act", "third party enabled"),
        "client.issue_token": pgettext("act", "token issued to a third party"),
        "client.register": pgettext("act", "third party registered"),
        "client.revoke_token": pgettext("act", "token of a third party revoked"),
        "index.take": pgettext("act", "index of a segment downloaded"),
        "job.expire": pgettext("act", "results of jobs expired"),
        "job.remove": pgettext("act", "job removed"),
        "job.submit": pgettext("act", "job submitted"),
        "pages.take": pgettext("act", "selection downloaded"),
        "segment.accept": pgettext("act", "segment accepted"),
        "segment.adopt": pgettext("act", "segment entered again"),
        "segment.refuse": pgettext("act", "segment refused"),
        "segment.restore": pgettext("act", "segment restored for distribution"),
        "segment.repair": pgettext("act", "segment repaired"),
        "segment.rewrite": pgettext("act", "segment rewritten"),
        "archive.scrub": pgettext("act", "verification of kept files started"),
        "archive.scrubbed": pgettext("act", "kept files verified"),
        "file.damaged": pgettext("act", "kept file missing or damaged"),
        "file.sound": pgettext("act", "kept file intact again"),
        "segment.take": pgettext("act", "segment downloaded"),
        "trash.empty": pgettext("act", "files deleted from the trash"),
        "trash.give-back": pgettext("act", "files put back from the trash"),
        "trash.purge": pgettext("act", "withdrawn hosts removed from the trash"),
        "trash.take": pgettext("act", "files moved to the trash"),
        # Collection
        "collection.cancel": pgettext("act", "order to send cancelled"),
        "collection.done": pgettext("act", "ordered logs sent"),
        "collection.failed": pgettext("act", "ordered logs not sent"),
        "collection.limit": pgettext("act", "sending rate set"),
        "collection.order": pgettext("act", "sending ordered"),
        "collection.reschedule": pgettext("act", "schedule of the collection changed"),
        "collection.run": pgettext("act", "schedule of the collection run"),
        "collection.schedule": pgettext("act", "schedule of the collection added"),
        "collection.unschedule": pgettext("act", "schedule of the collection removed"),
        "export.costs": pgettext("act", "costs exported"),
        "export.distances": pgettext("act", "distances exported"),
        "export.lists": pgettext("act", "lists exported"),
        "export.log-sums": pgettext("act", "log totals exported"),
        "export.volumes": pgettext("act", "volumes exported"),
        "report.accept": pgettext("act", "log accepted"),
        "report.impossible": pgettext("act", "log with impossible lines"),
        "report.forget": pgettext("act", "old logs deleted"),
        "transfer.cancel": pgettext("act", "transfer cancelled"),
        # Hosts and units
        "host.ban": pgettext("act", "host banned from an agent"),
        "host.discovered": pgettext("act", "hosts discovered"),
        "host.exclude": pgettext("act", "host excluded"),
        "host.import": pgettext("act", "hosts imported"),
        "host.include": pgettext("act", "host included again"),
        "host.resolve": pgettext("act", "names looked up again"),
        "host.lift-ban": pgettext("act", "ban lifted"),
        "host.merge": pgettext("act", "pieces of a host merged"),
        "host.sick": pgettext("act", "control host failing"),
        "host.split": pgettext("act", "host split"),
        "host.unshared": pgettext("act", "host no longer shared"),
        "list.import": pgettext("act", "lists imported"),
        "probe.order": pgettext("act", "probes ordered"),
        "unit.move": pgettext("act", "units moved"),
        "unit.pin": pgettext("act", "unit pinned"),
        "unit.pin-many": pgettext("act", "units pinned"),
        "unit.unpin": pgettext("act", "unit unpinned"),
        # Plans and rounds
        "permit.over": pgettext("act", "permit expired"),
        "plan.apply": pgettext("act", "plan applied"),
        "plan.make": pgettext("act", "plan created"),
        "plan.undo": pgettext("act", "plan undone"),
        "round.cancel": pgettext("act", "round cancelled"),
        "round.crawl": pgettext("act", "round started crawling"),
        "round.finish": pgettext("act", "round finished"),
        "round.refetch": pgettext("act", "pages chosen to compare agents"),
        "round.skip": pgettext("act", "round skipped"),
        "round.start": pgettext("act", "round started"),
        "round.verify": pgettext("act", "predictions verified by probes"),
        "schedule.add": pgettext("act", "schedule of rounds added"),
        "schedule.change": pgettext("act", "schedule of rounds changed"),
        "schedule.remove": pgettext("act", "schedule of rounds removed"),
        # The manager
        "clock.gap": pgettext("act", "clock jump"),
        "installation.contested": pgettext("act", "files used with another database"),
        "manager.backup": pgettext("act", "backup created"),
        "manager.backup-incomplete": pgettext("act", "incomplete backup created"),
        "manager.forget": pgettext("act", "manager forgotten"),
        "manager.lead": pgettext("act", "leadership taken over"),
        "manager.restore": pgettext("act", "restored from a backup"),
        # Releases
        "release.canary": pgettext("act", "canary status changed"),
        "release.halt": pgettext("act", "release halted"),
        "release.init": pgettext("act", "keys of releases set up"),
        "release.minimum": pgettext("act", "lowest version set"),
        "release.pin": pgettext("act", "version of an agent pinned"),
        "release.publish": pgettext("act", "release published"),
        "release.renew": pgettext("act", "signature renewed"),
        "release.revoke": pgettext("act", "release revoked"),
        "release.rollout": pgettext("act", "release rolled out"),
        "release.rotate": pgettext("act", "keys of releases changed"),
        # People and their tokens
        "token.make": pgettext("act", "API token created"),
        "token.revoke": pgettext("act", "API token revoked"),
        "user.add": pgettext("act", "user added"),
        "user.disable": pgettext("act", "user disabled"),
        "user.enable": pgettext("act", "user enabled"),
        "user.end-sessions": pgettext("act", "sessions of a user ended"),
        "user.guessed": pgettext("act", "many wrong passwords"),
        "user.login": pgettext("act", "logged in"),
        "user.logout": pgettext("act", "logged out"),
        "user.own-password": pgettext("act", "own password changed"),
        "user.password": pgettext("act", "password of a user set"),
        "user.role": pgettext("act", "role of a user changed"),
    }
