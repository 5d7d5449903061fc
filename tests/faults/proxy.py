"""A TCP proxy between dbt and a Thrift server that reads the statements on their way.

The client speaks SASL PLAIN: two messages (a status byte, a length, the text) that begin the
session, then frames of a length (4 bytes) and a Thrift message in the strict binary protocol.
"""

from __future__ import annotations

import contextlib
import socket
import struct
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from TCLIService import TCLIService, ttypes
from thrift.protocol.TBinaryProtocol import TBinaryProtocol
from thrift.Thrift import TMessageType
from thrift.transport.TTransport import TMemoryBuffer

ENDED = {
    ttypes.TOperationState.FINISHED_STATE,
    ttypes.TOperationState.ERROR_STATE,
    ttypes.TOperationState.CANCELED_STATE,
    ttypes.TOperationState.CLOSED_STATE,
}


@dataclass
class Statement:
    """A statement that passed: its place in the run, its text, and how long it ran."""

    place: int
    sql: str
    is_async: bool
    began: float
    seconds: float = 0.0


@dataclass
class Trap:
    """Stops one statement: the first that fits.

    phase: `before` (not passed on), `during` (passed on, no answer comes back) or `after` (it
        ended on the server, the client is not told).
    reached: set when the statement is held. go: the client goes on. Cutting the line instead is
        the proxy's.
    """

    fits: Callable[[Statement], bool]
    phase: str
    reached: threading.Event = field(default_factory=threading.Event)
    go: threading.Event = field(default_factory=threading.Event)
    statement: Statement | None = None


class Cut(Exception):
    """The line is to be cut here."""


class Refused(Exception):
    """A statement that the client gets an error for."""

    def __init__(self, message: str, state: str) -> None:
        super().__init__(message)
        self.state = state


class Line:
    """One connection through the proxy."""

    def __init__(self, proxy: Proxy, client: socket.socket) -> None:
        self.proxy, self.client = proxy, client
        self.server = socket.create_connection(("127.0.0.1", proxy.upstream))
        for end in (client, self.server):
            end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.now: Statement | None = None  # the statement that runs
        self.trap: Trap | None = None
        self.threads = [
            threading.Thread(target=self._pump, args=(pump,), daemon=True)
            for pump in (self._from_client, self._from_server)
        ]
        for thread in self.threads:
            thread.start()

    def _pump(self, pump: Callable[[], None]) -> None:
        try:
            with contextlib.suppress(OSError, EOFError, Cut):
                pump()
        finally:
            self.cut(server=not self.proxy.keeps_server)

    def cut(self, client: bool = True, server: bool = True) -> None:
        for end, wanted in ((self.client, client), (self.server, server)):
            if wanted:
                with contextlib.suppress(OSError):
                    end.shutdown(socket.SHUT_RDWR)
                with contextlib.suppress(OSError):
                    end.close()

    def _hold(self, trap: Trap, statement: Statement) -> None:
        trap.statement = statement
        trap.reached.set()
        trap.go.wait()
        if self.proxy.is_cut:
            raise Cut

    def _from_client(self) -> None:
        for _ in range(2):
            head = _exactly(self.client, 5)
            self.server.sendall(head + _exactly(self.client, struct.unpack(">xI", head)[0]))
        while True:
            size = _exactly(self.client, 4)
            body = _exactly(self.client, struct.unpack(">I", size)[0])
            if _name(body) == "ExecuteStatement":
                request = _decode(body, TCLIService.ExecuteStatement_args()).req
                statement = self.proxy.count(request.statement, bool(request.runAsync))
                if self.proxy.rule:
                    try:
                        sent = self.proxy.rule(request.statement)
                    except Refused as refused:
                        self.client.sendall(_answer(body, refused))
                        continue
                    if sent != request.statement:
                        body = _with_statement(body, sent)
                        size = struct.pack(">I", len(body))
                self.trap = self.proxy.trap_for(statement)
                if self.trap and self.trap.phase == "before":
                    self._hold(self.trap, statement)
                    self.trap = None
                statement.began = time.monotonic()
                self.now = statement
                self.server.sendall(size + body)
                if self.trap and self.trap.phase == "during":
                    self.trap.statement = statement
                    self.trap.reached.set()
                continue
            self.server.sendall(size + body)

    def _from_server(self) -> None:
        head = _exactly(self.server, 5)
        self.client.sendall(head + _exactly(self.server, struct.unpack(">xI", head)[0]))
        while True:
            size = _exactly(self.server, 4)
            body = _exactly(self.server, struct.unpack(">I", size)[0])
            statement, trap = self.now, self.trap
            if statement and self._is_end(statement, body):
                statement.seconds = time.monotonic() - statement.began
                self.now = None
                if trap and trap.phase == "after":
                    self.trap = None
                    self._hold(trap, statement)
            if trap and trap.phase == "during":
                trap.go.wait()
                self.trap = None
                if self.proxy.is_cut:
                    raise Cut
            self.client.sendall(size + body)

    @staticmethod
    def _is_end(statement: Statement, body: bytes) -> bool:
        name = _name(body)
        if name == "ExecuteStatement":
            answer = _decode(body, TCLIService.ExecuteStatement_result()).success
            failed = answer.status.statusCode == ttypes.TStatusCode.ERROR_STATUS
            return failed or not statement.is_async
        if name == "GetOperationStatus":
            answer = _decode(body, TCLIService.GetOperationStatus_result()).success
            return answer.operationState in ENDED
        return False


class Proxy:
    """Listens on a port of its own and passes everything on to the server's.

    keeps_server: a cut of the client's side leaves the server's side open, so that what runs there
        goes on, as on a line that is lost without a word.
    rule: what the server gets in place of a statement; it raises Refused for what the server is
        not to see.
    """

    def __init__(
        self,
        upstream: int,
        traps: list[Trap] | None = None,
        rule: Callable[[str], str] | None = None,
    ) -> None:
        self.upstream = upstream
        self.rule = rule
        self.traps = list(traps or [])
        self.statements: list[Statement] = []
        self.lines: list[Line] = []
        self.is_cut = False
        self.keeps_server = False
        self._lock = threading.Lock()
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                if self.is_cut:
                    client.close()
                    continue
                try:
                    self.lines.append(Line(self, client))
                except OSError:
                    client.close()

    def count(self, sql: str, is_async: bool) -> Statement:
        with self._lock:
            statement = Statement(len(self.statements), sql, is_async, time.monotonic())
            self.statements.append(statement)
            return statement

    def trap_for(self, statement: Statement) -> Trap | None:
        with self._lock:
            for trap in self.traps:
                if trap.statement is None and trap.fits(statement):
                    trap.statement = statement
                    return trap
            return None

    def cut(self, keep_server: bool = False) -> None:
        """Cut all lines, and take no new ones."""
        self.is_cut, self.keeps_server = True, keep_server
        for trap in self.traps:
            trap.go.set()
        for line in list(self.lines):
            line.cut(server=not keep_server)

    def cut_once(self, keep_server: bool = False) -> None:
        """Cut the lines that are there; the client may call again."""
        self.is_cut, self.keeps_server = True, keep_server
        for trap in self.traps:
            trap.go.set()
        for line in list(self.lines):
            line.cut(server=not keep_server)
            line.threads[0].join(5)
        self.is_cut = False

    def close(self) -> None:
        """Cut everything and stop listening."""
        self.cut()
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()


def _exactly(end: socket.socket, size: int) -> bytes:
    got = bytearray()
    while len(got) < size:
        part = end.recv(size - len(got))
        if not part:
            raise EOFError
        got += part
    return bytes(got)


def _name(body: bytes) -> str:
    """The method of a Thrift message."""
    if len(body) < 8 or body[0] != 0x80:
        return ""
    size = struct.unpack(">I", body[4:8])[0]
    return body[8 : 8 + size].decode()


def _decode(body: bytes, into: Any) -> Any:
    protocol = TBinaryProtocol(TMemoryBuffer(body))
    protocol.readMessageBegin()
    into.read(protocol)
    return into


def _encoded(body: bytes, type: int, content: Any) -> bytes:
    """A message with the name and the number of another."""
    read = TBinaryProtocol(TMemoryBuffer(body))
    name, _, number = read.readMessageBegin()
    buffer = TMemoryBuffer()
    written = TBinaryProtocol(buffer)
    written.writeMessageBegin(name, type, number)
    content.write(written)
    written.writeMessageEnd()
    encoded: bytes = buffer.getvalue()
    return encoded


def _with_statement(body: bytes, sql: str) -> bytes:
    """The message with another statement."""
    arguments = _decode(body, TCLIService.ExecuteStatement_args())
    arguments.req.statement = sql
    return _encoded(body, TMessageType.CALL, arguments)


def _answer(body: bytes, refused: Refused) -> bytes:
    """The answer to a statement that is refused, as a frame."""
    status = ttypes.TStatus(
        ttypes.TStatusCode.ERROR_STATUS,
        sqlState=refused.state,
        errorCode=0,
        errorMessage=str(refused),
    )
    response = ttypes.TExecuteStatementResp(status=status)
    result = TCLIService.ExecuteStatement_result(success=response)
    encoded = _encoded(body, TMessageType.REPLY, result)
    return struct.pack(">I", len(encoded)) + encoded
