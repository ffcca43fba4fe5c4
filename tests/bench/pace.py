"""How far from its recorded time a chunk arrives with --speed 1."""
import os
import socket
import time

from make_cassette import Cassette

CHUNKS, GAP_MS = 40, 25


def write_cassette(path):
    """One stream of CHUNKS events, GAP_MS apart."""
    events = [f"data: {n:04}\n\n".encode() for n in range(CHUNKS)]
    tape = Cassette(path)
    tape.add("GET", "http://bench.test/pace", b"".join(events),
             content_type="text/event-stream",
             chunks=[[n * GAP_MS, len(event)] for n, event in enumerate(events)])
    tape.close()


def worst_ms(port, path):
    """The largest distance between a chunk's arrival and its recorded time."""
    with socket.create_connection(("127.0.0.1", port)) as conn:
        conn.settimeout(10)
        conn.sendall(f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".encode())
        seen = b""
        arrivals = []
        while len(arrivals) < CHUNKS:
            data = conn.recv(65536)
            if not data:
                raise OSError("the stream ended early")
            now = time.monotonic()
            seen += data
            arrivals += [now] * (seen.count(b"data: ") - len(arrivals))
    first = arrivals[0]
    return max(abs((at - first) * 1000 - n * GAP_MS) for n, at in enumerate(arrivals))


def rows(table, retape, work):
    name = os.path.join(work, "cassettes", "pace.jsonl")
    write_cassette(name)
    with retape("replay", "pace", "--speed", "1") as server:
        table.row("pace of a stream, --speed 1, worst chunk", "ms",
                  worst_ms(server.port, "/to/http/bench.test/pace"), 10, "10 ms", ("<=", 1))
    os.unlink(name)
