"""`make show-site`: from the archive to the first page, and what becomes of releases, good or bad.

With root it makes a user without rights and starts Debian's cron, in namespaces that are not
visible outside; without root, the same runs as this user, without cron. Takes some minutes; where
the site's system is of another processor, which is emulated, ten times as many.
"""

from __future__ import annotations

import argparse
import json
import signal
import sys
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path

from tools.show_site import room
from tools.show_site.centre import Centre
from tools.show_site.installation import Installation
from tools.show_site.partner import Partner
from tools.show_site.update import Update
from tools.show_site.version_change import VersionChange


def main() -> None:
    """Run the whole story; end with code 1 where it goes otherwise. The last line is `RESULT `."""
    parser = argparse.ArgumentParser(prog="python -m tools.show_site", description=__doc__)
    parser.add_argument("--part", choices=["install", "update", "all"], default="all")
    parser.add_argument(
        "--from", type=Path, dest="tree", metavar="CHECKOUT",
        help="install the agent of an older checkout (its `make dev` was run), then update to this",
    )  # fmt: skip
    parser.add_argument("--plain", action="store_true", help="as this user, without cron")
    parser.add_argument(
        "--system", type=Path, default=room.HERE, metavar="FOLDER",
        help="the site is a Debian in a folder, as tools/debian_root.sh makes it",
    )  # fmt: skip
    options = parser.parse_args()
    system = options.system.absolute()
    why_not = "it was asked for so" if options.plain else room.shortage(system)
    if why_not and system != room.HERE:
        parser.error(f"--system {system}: {why_not}")
    if not why_not:
        room.enter()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    begun = time.monotonic()
    with (
        tempfile.TemporaryDirectory(prefix="prs-show-site-") as name,
        ExitStack() as stack,
    ):
        folder = Path(name)
        folder.chmod(0o755)
        if why_not:
            print(f"no separate user and no cron: {why_not}")
            partner = Partner(folder / "home")
            partner.home.mkdir()
            # Its processes do not end with it, as those of a separate machine would.
            stack.callback(partner.output_of, "~/prs/bin/prs stop --force")
        else:
            room.furnish(folder, system)
            partner = Partner(system / "home" / room.PARTNER, room.PARTNER, system)
        centre = Centre(folder / "centre", stack)
        installing = Installation(centre, partner, folder, options.tree)
        figures = installing.tell(stack)
        if options.tree is not None:
            assert installing.platform is not None  # it has told its story
            change = VersionChange(centre, partner, installing.archive, installing.platform)
            figures |= change.tell()
        elif options.part != "install":
            figures |= Update(centre, partner, installing.archive).tell()
        partner.types("~/prs/bin/prs uninstall", most=6)
    print(f"RESULT {json.dumps({**figures, 'seconds': round(time.monotonic() - begun)})}")


if __name__ == "__main__":
    main()
