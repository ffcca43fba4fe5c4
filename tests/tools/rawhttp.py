"""An HTTP client that sends exactly the bytes it is given and shows what comes back.

    rawhttp.py HOST:PORT [options] < REQUEST

    --connect HOST:PORT  open a CONNECT tunnel first (with --header "N: V" on it)
    --tls NAME --ca FILE speak TLS, asking for NAME
    --responses N        read N responses on the connection (default 1)
    --show bytes         the raw bytes of the responses (default)
    --show chunks        the status, then one line per chunk with its length and text,
                         then "end" or "cut" when the connection ended early
    --touch DIR          make DIR/c1.go, DIR/c2.go, ... as each chunk arrives
    --leave N            close after N chunks
    --half-close         shut down sending after the request

Exit status 0 when the responses came whole, 4 when they were cut, 5 without any answer.
"""
import argparse
import json
import os
import socket
import ssl
import sys

SECONDS = 30


class Cut(Exception):
    pass


class Reader:
    """Reads from the connection and keeps every byte."""

    def __init__(self, conn):
        self.conn, self.seen, self.at = conn, b"", 0

    def more(self):
        try:
            data = self.conn.recv(65536)
        except (ConnectionError, ssl.SSLError):
            data = b""
        self.seen += data
        return bool(data)

    def line(self):
        while (end := self.seen.find(b"\r\n", self.at)) < 0:
            if not self.more():
                raise Cut
        text, self.at = self.seen[self.at:end], end + 2
        return text.decode("latin-1")

    def exactly(self, size):
        while len(self.seen) - self.at < size:
            if not self.more():
                data, self.at = self.seen[self.at:], len(self.seen)
                raise Cut(data)
        data, self.at = self.seen[self.at:self.at + size], self.at + size
        return data

    def rest(self):
        while self.more():
            pass
        data, self.at = self.seen[self.at:], len(self.seen)
        return data


def head(reader):
    status = reader.line()
    headers = {}
    while line := reader.line():
        name, _, value = line.partition(":")
        headers[name.lower()] = value.strip()
    return status, headers


def pieces(reader, status, headers):
    """The body: chunks as they were framed, anything else as one piece."""
    if status.split()[1] in ("204", "304"):
        return
    if headers.get("transfer-encoding", "").lower() == "chunked":
        while size := int(reader.line().split(";")[0], 16):
            yield reader.exactly(size)
            reader.line()
        while reader.line():
            pass
    elif "content-length" in headers:
        yield reader.exactly(int(headers["content-length"]))
    else:
        yield reader.rest()


def response(reader, args, show):
    status, headers = head(reader)
    show(status)
    count = 0
    for piece in pieces(reader, status, headers):
        count += 1
        show(f"{len(piece)} {json.dumps(piece.decode('utf-8', 'backslashreplace'))}")
        if args.touch:
            open(os.path.join(args.touch, f"c{count}.go"), "w").close()
        if count == args.leave:
            return False
    show("end")
    return True


def opened(args):
    host, _, port = args.address.rpartition(":")
    conn = socket.create_connection((host.strip("[]"), int(port)), timeout=SECONDS)
    if args.connect:
        extra = "".join(f"{h}\r\n" for h in args.header)
        conn.sendall(f"CONNECT {args.connect} HTTP/1.1\r\nHost: {args.connect}\r\n"
                     f"{extra}\r\n".encode())
        reader = Reader(conn)
        status, _ = head(reader)
        if status.split()[1] != "200":
            sys.stdout.buffer.write(reader.seen + reader.rest())
            sys.exit(5)
    if args.tls:
        context = ssl.create_default_context(cafile=args.ca)
        conn = context.wrap_socket(conn, server_hostname=args.tls)
    return conn


def main():
    args = argparse.ArgumentParser()
    args.add_argument("address")
    for name in ("--connect", "--tls", "--ca", "--touch"):
        args.add_argument(name)
    args.add_argument("--header", action="append", default=[])
    args.add_argument("--responses", type=int, default=1)
    args.add_argument("--leave", type=int, default=0)
    args.add_argument("--show", choices=("bytes", "chunks"), default="bytes")
    args.add_argument("--half-close", action="store_true")
    args = args.parse_args()

    show = print if args.show == "chunks" else lambda text: None
    conn = opened(args)
    reader, cut = Reader(conn), False
    try:
        conn.sendall(sys.stdin.buffer.read())
        if args.half_close:
            conn.shutdown(socket.SHUT_WR)
    except ConnectionError:
        pass  # refused early: the answer is what counts
    try:
        for _ in range(args.responses):
            if not response(reader, args, show):
                break
    except Cut as rest:
        cut = True
        if rest.args and rest.args[0]:
            show(f"{len(rest.args[0])} {json.dumps(rest.args[0].decode('latin-1'))}")
        show("cut")
    if args.show == "bytes":
        sys.stdout.buffer.write(reader.seen)
    return 0 if not cut else 4 if reader.seen else 5


sys.exit(main())
