"""A database proxy that drops the answer to a COMMIT."""

import contextlib
import socket
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from psycopg import conninfo

PORT = 5432
PIECE_BYTES = 65536


class Severing:
    """Forwards traffic between clients and the server at `url`; `sever` makes it drop an answer."""

    def __init__(self, url: str, folder: Path) -> None:
        self._behind = conninfo.conninfo_to_dict(url)
        self._armed: bytes | None = None
        self.severed = threading.Event()
        self.url = conninfo.make_conninfo(url, host=str(folder), hostaddr=None, port=PORT)
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(str(folder / f".s.PGSQL.{PORT}"))
        self._listener.listen()
        threading.Thread(target=self._accept, daemon=True).start()

    def sever(self, statement: bytes) -> None:
        """Drop the answer to the next COMMIT of a transaction with `statement`, and the connection."""
        self.severed.clear()
        self._armed = statement

    def close(self) -> None:
        """Stop accepting connections."""
        self._listener.close()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                threading.Thread(target=self._serve, args=(client,), daemon=True).start()

    def _serve(self, client: socket.socket) -> None:
        with client, self._connect() as server:
            lost = threading.Event()
            answers = threading.Thread(target=self._answer, args=(server, client, lost), daemon=True)
            answers.start()
            sent = b""
            with contextlib.suppress(OSError):
                while piece := client.recv(PIECE_BYTES):
                    sent += piece
                    if self._armed and self._armed in sent and b"COMMIT" in piece:
                        self._armed = None
                        lost.set()
                    server.sendall(piece)
                    if b"COMMIT" in piece:
                        sent = b""
            with contextlib.suppress(OSError):
                server.shutdown(socket.SHUT_RDWR)
            answers.join()

    def _answer(self, server: socket.socket, client: socket.socket, lost: threading.Event) -> None:
        with contextlib.suppress(OSError):
            while piece := server.recv(PIECE_BYTES):
                if lost.is_set():  # the server has answered, so it has committed
                    client.shutdown(socket.SHUT_RDWR)
                    self.severed.set()
                    return
                client.sendall(piece)
        with contextlib.suppress(OSError):
            client.shutdown(socket.SHUT_RDWR)

    def _connect(self) -> socket.socket:
        host, port = str(self._behind["host"]), int(self._behind.get("port") or PORT)
        if not host.startswith("/"):
            return socket.create_connection((host, port))
        server = socket.socket(socket.AF_UNIX)
        server.connect(f"{host}/.s.PGSQL.{port}")
        return server


@contextmanager
def severing(url: str) -> Iterator[Severing]:
    """Yield a proxy to the database at `url`."""
    with tempfile.TemporaryDirectory(prefix="pagelight-") as folder:
        way = Severing(url, Path(folder))
        yield way
        way.close()
