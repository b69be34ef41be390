"""A connection that was left open is hung up for another name, and nothing else ever is."""

from __future__ import annotations

import socket
from pathlib import Path

from agent.adapters.curl.idle_connections import IdleConnections

ADDRESS, OTHER = "127.0.0.1", "192.0.2.7"


def hung_up(connection: socket.socket) -> bool:
    connection.setblocking(False)
    try:
        return connection.recv(1) == b""
    except BlockingIOError:
        return False


def identity(connection: socket.socket) -> tuple[int, int]:
    """Return a connection's descriptor, and the port of our side."""
    return connection.fileno(), connection.getsockname()[1]


def files_open() -> int:
    return sum(1 for _ in Path("/proc/self/fd").iterdir())


def test_another_name_at_its_address_hangs_it_up() -> None:
    """The same name uses it again; another address, or a number that is another's, is let be."""
    with socket.create_server((ADDRESS, 0)) as server:
        for kept_of, asked_of, host, ends in (
            (ADDRESS, ADDRESS, "b", True),
            (ADDRESS, ADDRESS, "a", False),
            (ADDRESS, OTHER, "b", False),
            (OTHER, OTHER, "b", False),
        ):
            with socket.create_connection(server.getsockname()) as ours:
                theirs, _ = server.accept()
                with theirs:
                    idle = IdleConnections(10)
                    idle.keep(kept_of, "a", *identity(ours), 0.0)
                    idle.make_way(asked_of, host, 5.0)
                    assert hung_up(theirs) is ends


def test_a_number_that_is_no_connection_any_more_is_let_go_of(tmp_path: Path) -> None:
    """libcurl closes without a word: by now it is a file's, another socket's, or nobody's."""
    ours, theirs = socket.socketpair()
    with (tmp_path / "file").open("w") as file, ours, theirs:
        before = files_open()
        for descriptor in (file.fileno(), ours.fileno(), 9999):
            idle = IdleConnections(10)
            idle.keep(ADDRESS, "a", descriptor, 4000, 0.0)
            idle.make_way(ADDRESS, "b", 5.0)
        assert files_open() == before
        assert not hung_up(theirs)
        file.write("still open")


def test_of_requests_that_were_under_way_together_one_connection_stays() -> None:
    """The last one that was left open, whichever hosts of a shared address had them."""
    with (
        socket.create_server((ADDRESS, 0)) as server,
        socket.create_connection(server.getsockname()) as first,
        server.accept()[0] as at_first,
        socket.create_connection(server.getsockname()) as second,
        server.accept()[0] as at_second,
    ):
        idle = IdleConnections(10)
        idle.keep(ADDRESS, "a", *identity(first), 0.0)
        idle.keep(ADDRESS, "a", *identity(first), 1.0)
        assert not hung_up(at_first)
        idle.keep(ADDRESS, "b", *identity(second), 2.0)
        assert hung_up(at_first)
        assert not hung_up(at_second)
        assert idle.make_way(ADDRESS, "b", 5.0) == second.fileno()


def test_a_request_whose_connection_took_over_the_number_of_another_goes_on() -> None:
    """It leads to the same address, but from another port of ours."""
    with (
        socket.create_server((ADDRESS, 0)) as server,
        socket.create_connection(server.getsockname()) as ours,
        server.accept()[0] as theirs,
    ):
        descriptor, port = identity(ours)
        idle = IdleConnections(10)
        idle.keep(ADDRESS, "a", descriptor, port - 1, 0.0)
        idle.make_way(ADDRESS, "b", 5.0)
        assert not hung_up(theirs)
