"""Registry of audit actions: each name with its earlier names, which rows of old versions hold.

A name is `subject.verb`. Rows are only added, so an old row keeps the name that it was written
with, and whoever filters by either name finds both. Labels are in the catalogues, `actions.toml`;
docs/operations/audit.md lists all.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

__all__ = ["ACTIONS", "current_action", "first_name", "label_code", "other_names"]

ACTIONS: Final[Mapping[str, tuple[str, ...]]] = {
    "address.decide": (),
    "agent.change-key": ("agent.key",),
    "agent.clear-doubts": ("agent.believe",),
    "agent.clear-suspicion": ("agent.sound",),
    "agent.command": (),
    "agent.compare": (),
    "agent.complete-command": ("agent.command-done",),
    "agent.create-token": ("agent.token",),
    "agent.detect-clone": ("agent.clone",),
    "agent.enrol": (),
    "agent.exceed-discoveries": ("agent.discovered-too-much",),
    "agent.give-back": ("agent.given-back",),
    "agent.mark-lost": ("agent.lost",),
    "agent.retire": (),
    "agent.reuse-token": ("agent.token-reused",),
    "agent.revoke-token": (),
    "agent.set-list-limit": ("agent.list-limit",),
    "agent.set-position": ("agent.position",),
    "agent.subscribe": (),
    "agent.suspect": (),
    "agent.take-over": ("agent.taken-over",),
    "agent.unsubscribe": (),
    "agent.update-failed": (),
    "agent.update-refused": (),
    "agent.update-unreached": (),
    "agent.update-updated": (),
    "agent.update-went-back": (),
    "alert.end": ("alert.over",),
    "alert.end-silence": ("alert.speak",),
    "alert.repeat": ("alert.still",),
    "alert.send": ("alert.begun",),
    "alert.send-event": ("alert.event",),
    "alert.silence": (),
    "archive.adopt": (),
    "archive.delete-changes": ("changes.forget",),
    "archive.finish-scrub": ("archive.scrubbed",),
    "archive.scrub": (),
    "client.create-token": ("client.issue_token",),
    "client.disable": (),
    "client.enable": (),
    "client.register": (),
    "client.revoke-token": ("client.revoke_token",),
    "clock.jump": ("clock.gap",),
    "collection.add-schedule": ("collection.schedule",),
    "collection.cancel-order": ("collection.cancel",),
    "collection.change-schedule": ("collection.reschedule",),
    "collection.complete-order": ("collection.done",),
    "collection.fail-order": ("collection.failed",),
    "collection.order": (),
    "collection.remove-schedule": ("collection.unschedule",),
    "collection.run-schedule": ("collection.run",),
    "collection.set-limits": ("collection.limit",),
    "delivery.test": ("alerts.test",),
    "export.costs": (),
    "export.distances": (),
    "export.lists": (),
    "export.log-sums": (),
    "export.volumes": (),
    "file.find-damaged": ("file.damaged",),
    "file.find-intact": ("file.sound",),
    "fleet.block": ("block.add",),
    "fleet.set-limits": ("fleet.limits",),
    "fleet.unblock": ("block.remove",),
    "host.ban": (),
    "host.cancel-split": (),
    "host.discover": ("host.discovered",),
    "host.exclude": (),
    "host.find-failing": ("host.sick",),
    "host.import": (),
    "host.include": (),
    "host.lengthen-pause": (),
    "host.lift-ban": (),
    "host.merge": (),
    "host.order-split": (),
    "host.resolve": (),
    "host.split": (),
    "host.stop-sharing": ("host.unshared",),
    "index.download": ("index.take",),
    "installation.detect-conflict": ("installation.contested",),
    "job.expire": (),
    "job.remove": (),
    "job.submit": (),
    "log.accept": ("report.accept",),
    "log.delete": ("report.forget",),
    "log.find-impossible": ("report.impossible",),
    "maintenance.add": ("alerts.window",),
    "maintenance.end": ("alerts.speak",),
    "manager.backup": (),
    "manager.backup-incomplete": (),
    "manager.forget": (),
    "manager.restore": (),
    "manager.take-leadership": ("manager.lead",),
    "permit.expire": ("permit.over",),
    "plan.apply": (),
    "plan.create": ("plan.make",),
    "plan.undo": (),
    "probe.order": (),
    "release.halt": (),
    "release.init": (),
    "release.pin": (),
    "release.publish": (),
    "release.renew": (),
    "release.revoke": (),
    "release.rollout": (),
    "release.rotate": (),
    "release.set-canary": ("release.canary",),
    "release.set-minimum": ("release.minimum",),
    "round.add-schedule": ("schedule.add",),
    "round.cancel": (),
    "round.carry-over": (),
    "round.change-schedule": ("schedule.change",),
    "round.finish": (),
    "round.give-up-probes": (),
    "round.order-probes": ("round.verify-predictions", "round.verify"),
    "round.refetch": (),
    "round.remove-schedule": ("schedule.remove",),
    "round.skip": (),
    "round.start": (),
    "round.start-crawl": ("round.crawl",),
    "round.use-predictions": (),
    "scope.set": (),
    "segment.accept": (),
    "segment.adopt": (),
    "segment.download": ("segment.take",),
    "segment.refuse": (),
    "segment.repair": (),
    "segment.restore": (),
    "segment.rewrite": (),
    "selection.download": ("pages.take",),
    "server-list.import": ("list.import",),
    "token.create": ("token.make",),
    "token.revoke": (),
    "transfer.cancel": (),
    "trash.add": ("trash.take",),
    "trash.empty": (),
    "trash.purge": (),
    "trash.restore": ("trash.give-back",),
    "unit.move": (),
    "unit.pin": (),
    "unit.pin-many": (),
    "unit.unpin": (),
    "user.add": (),
    "user.change-own-password": ("user.own-password",),
    "user.disable": (),
    "user.enable": (),
    "user.end-sessions": (),
    "user.fail-logins": ("user.guessed",),
    "user.login": (),
    "user.logout": (),
    "user.set-password": ("user.password",),
    "user.set-role": ("user.role",),
}
"""Earlier names by the name of today."""

_CURRENT: Final = {old: name for name, earlier in ACTIONS.items() for old in earlier}


def current_action(action: str) -> str:
    """Return the name of today; itself where it has no other."""
    return _CURRENT.get(action, action)


def first_name(action: str) -> str:
    """Return the name under which an action was first released."""
    return (*ACTIONS.get(action, ()), action)[0]


def other_names(beginning: str) -> tuple[str, ...]:
    """Return the names of actions that have another name with this beginning."""
    if not beginning:
        return ()
    return tuple(
        name
        for action, earlier in ACTIONS.items()
        if any(one.startswith(beginning) for one in (action, *earlier))
        for name in (action, *earlier)
        if not name.startswith(beginning)
    )


def label_code(action: str) -> str:
    """Return the code of an action's label: `actions.agent_enrol` of `agent.enrol`."""
    return f"actions.{current_action(action).replace('.', '_').replace('-', '_')}"
