"""First part: a user, an archive, five lines typed, and what cron makes of them."""

from __future__ import annotations

import json
import shutil
import time
from contextlib import ExitStack
from datetime import datetime, timedelta
from pathlib import Path

from agent.settings import RENAMED
from tools.bundle.chosen import Platform
from tools.demo.system import wait_for
from tools.show_site.centre import AGENT, Centre
from tools.show_site.partner import LONG_S, PRS, Partner, StoryError
from tools.show_site.releases import make_first
from tools.show_site.room import Cron

__all__ = ["Installation"]

WHICH_PYTHON = (  # the archive's own `install` chooses so
    "for python in python3.13 python3.12 python3.11 python3; do "
    '$python -c "import platform, sys; print(*sys.version_info[:2], platform.machine())" '
    "2>/dev/null && break; done"
)
LOOPBACK = """
the pages are on loopback here, which no site allows by itself: prs.toml is told so"""


class Installation:
    """The commands of the partner guide, typed."""

    def __init__(
        self, centre: Centre, partner: Partner, folder: Path, tree: Path | None = None
    ) -> None:
        """Take the machines. tree: the checkout whose agent is installed; None: this one."""
        self._centre = centre
        self._partner = partner
        self._folder = folder
        self._tree = tree
        self.archive = folder
        self.platform: Platform | None = None

    def tell(self, stack: ExitStack) -> dict[str, object]:
        """Run it; return its figures. Raises StoryError, TimeoutError."""
        centre, partner = self._centre, self._partner
        centre.people.meet()
        major, minor, machine = partner.output_of(WHICH_PYTHON).split()
        platform = self.platform = Platform((int(major), int(minor)), machine)
        self.archive = make_first(self._folder, centre.people.root, platform, self._tree)
        centre.open()
        token = centre.prsm("agents", "token", AGENT).strip()
        name = self.archive.name
        shutil.copy(self.archive, partner.file(name))
        partner.types("id -un; ls -A | head", most=8)
        begun = time.monotonic()
        partner.types(f"tar xzf {name}")
        partner.types(f"{name.removesuffix('.tar.gz')}/install")
        starter = "cron" if partner.name else "none"
        # As the partner saves what the administrator sent.
        partner.file("token").write_text(f"{token}\n")
        partner.types(
            f"{PRS} enrol {centre.manager.url} --name {AGENT} "
            f"--contact partner@example.jp --start {starter} --token-file token",
            most=24,
        )
        enrolled_s = time.monotonic() - begun
        self._allow_loopback()
        cron = self._begin(stack)
        wait_for("its first call", lambda: centre.agent()["agent"]["version"], seconds=LONG_S)
        centre.prsm("rounds", "start", "--method", "random")
        wait_for("the first page", lambda: self._pages() > 0, seconds=LONG_S, every_s=0.5)
        first_page_s = time.monotonic() - begun
        partner.types(f"{PRS} status", most=6)
        print(f"from the archive to the first page: {first_page_s:.0f} s", flush=True)
        replaced = self._killed() if cron is not None else None
        return {
            "platform": platform.name,
            "enrolled_s": round(enrolled_s),
            "first_page_s": round(first_page_s),
            "cron": cron is not None,
            "after_kill_by_cron": replaced,
        }

    def _begin(self, stack: ExitStack) -> Cron | None:
        partner = self._partner
        if not partner.name:
            partner.start(f"{PRS} run --quiet")
            return None
        said = partner.types("crontab -l")
        if "--replace-hung" not in said:
            raise StoryError("enrol wrote no line that starts the agent")
        print("machine# cron -f    (as when the machine starts: @reboot)", flush=True)
        cron = Cron(partner.system)
        stack.callback(cron.stop)
        self._runs("by @reboot")
        return cron

    def _killed(self) -> bool:
        """Kill the agent; cron's hourly line, at a minute that is soon, starts the next one."""
        partner = self._partner
        memory = partner.file("prs/data/link.json")
        partner.types("pkill -9 -u partner -f '[p]rs --home'", code=None)
        wait_for("its end", lambda: not self._running(), seconds=LONG_S)
        soon = datetime.now().astimezone() + timedelta(minutes=2)
        values = json.loads(memory.read_bytes())
        memory.write_text(json.dumps({**values, "spread_minute": soon.minute}))
        print(f"(the minute is drawn at random; here it is {soon.minute}, to wait for less)")
        partner.types(f"{PRS} schedule cron")
        self._runs("after kill -9, by its line of the hour")
        return True

    def _runs(self, how: str) -> None:
        wait_for(f"the agent, {how}", self._running, seconds=LONG_S, every_s=1.0)
        print(f"the agent runs, {how}:", flush=True)
        self._partner.types(
            "ps -u partner -o pid,ppid,args | grep '[r]un --quiet' | cut -c1-110", most=4
        )

    def _running(self) -> bool:
        return "no agent runs here" not in self._partner.output_of(f"{PRS} status")

    def _pages(self) -> int:
        try:
            said = json.loads(self._partner.output_of(f"{PRS} status --json"))
            return int(said["status"]["pages"])
        except (ValueError, KeyError, TypeError):
            return 0

    def _allow_loopback(self) -> None:
        """Set what a crawl of this machine needs, in the file that enrol wrote."""
        print(LOOPBACK.strip())
        path = self._partner.file("prs/data/prs.toml")
        text = path.read_text()
        for name, value in (
            ("allowed_networks", '["127.0.0.0/8"]'),
            ("servers", f'["127.0.0.1:{self._centre.web.dns_port}"]'),
            ("source_address", '"127.10.0.1"'),
            ("interval_s", "0.5"),
            ("fast_host_interval_s", "0.5"),
            ("backoff_s", "1.0"),
            ("reserve_bytes", "100000000"),
        ):
            # An agent of an old checkout has the setting under its old name.
            old = [one.old.rpartition(".")[2] for one in RENAMED if one.new.endswith(f".{name}")]
            known = next((one for one in (name, *old) if f"# {one} = " in text), None)
            if known is None:
                raise StoryError(f"prs.toml has no line for {name}")
            head, _, rest = text.partition(f"# {known} = ")
            text = f"{head}{known} = {value}\n{rest.partition(chr(10))[2]}"
        path.write_text(text)
