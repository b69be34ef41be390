"""`prs serve`: let the manager fetch segments, where it can reach this machine."""

from __future__ import annotations

import signal
import threading

import click

from agent.app.startup.agent_run import identity_of
from agent.cli.options import HomeOption, in_words, pass_home_option, print_text, set_option
from agent.collection.allowance import Allowance
from agent.collection.announcement import remove_serving, write_serving
from agent.collection.segment_server import SegmentServer, Tokens, certificate_of
from agent.errors import HomeError
from agent.settings import Home
from shared.settings import name_server
from shared.wire.sync import SegmentAddress

__all__ = ["serve"]


@click.command()
@set_option
@pass_home_option
def serve(home_option: HomeOption, overrides: tuple[str, ...]) -> None:
    """Serve sealed segments over TLS until it is stopped; for agents on the open network.

    The manager hears of it by the agent's next sync. It shows the certificate's fingerprint there,
    and a token for each ordered segment; no other client gets anything.
    """
    with in_words():
        settings = home_option.settings(overrides)
        identity = identity_of(settings)
        home = Home(home_option.path)
        home.make()
        certificate = certificate_of(home, identity.name)
        address = name_server(settings.collection.serve_listen, "collection.serve_listen")
        try:
            server = SegmentServer(
                address, certificate, home.segments, Tokens(home), Allowance(settings)
            )
        except OSError as error:
            raise HomeError(
                "agent_errors.serve_listen",
                address=settings.collection.serve_listen,
                why=error.strerror,
            ) from error
        url = settings.collection.serve_url or f"https://{identity.name}:{server.port}"
        write_serving(home.collection, SegmentAddress(url=url, fingerprint=certificate.fingerprint))
        print_text(f"serving {url}, certificate {certificate.fingerprint}")
        _until_stopped(server)
        remove_serving(home.collection)


def _until_stopped(server: SegmentServer) -> None:
    stopped = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stopped.set())
    thread = threading.Thread(target=server.serve, name="serve")
    thread.start()
    stopped.wait()
    server.close()
    thread.join()
