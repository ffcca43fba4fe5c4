"""What a kept-alive TLS connection costs a server while nobody uses it."""
import socket
import time
from collections import namedtuple

from servers import Broken, insecure_tls

SETTLE_SECONDS = 1
Idle = namedtuple("Idle", "total each cpu_percent")


def connect(port, context):
    sock = socket.create_connection(("127.0.0.1", port), 20)
    tls = context.wrap_socket(sock, server_hostname="bench.test")
    tls.sendall(b"GET /2k HTTP/1.1\r\nHost: bench.test\r\n\r\n")
    answer = b""
    while b"\r\n\r\n" not in answer or len(answer.partition(b"\r\n\r\n")[2]) < 2048:
        piece = tls.recv(65536)
        if not piece:
            raise Broken(f"a connection was closed: {answer[:200]!r}")
        answer += piece
    return tls


def hold_idle(server, count):
    """Open `count` connections, one request on each, then watch them do nothing."""
    context = insecure_tls()
    connect(server.tls_port, context).close()  # what the first one allocates is not counted
    before = server.memory("VmRSS")
    held = []
    try:
        while len(held) < count:
            held.append(connect(server.tls_port, context))
    except OSError as error:
        raise Broken(f"connection {len(held) + 1} of {count}: {error}") from error
    cpu, began = server.cpu_seconds(), time.monotonic()
    time.sleep(SETTLE_SECONDS)
    busy = (server.cpu_seconds() - cpu) / (time.monotonic() - began)
    after = server.memory("VmRSS")
    for connection in held:
        connection.close()
    return Idle(after, (after - before) / count, 100 * busy)
