"""A scripted HTTP and HTTPS origin on one port of the loopback.

    origin.py --work DIR --ready FILE --log FILE [--cert PEM --key PEM] < SCRIPT

A connection that starts with a TLS handshake is served over TLS, any other as plain
HTTP. Every request is one JSON line in the log before it is answered. The script is a
list of blocks; several blocks for one path answer in turn, the last one from then on.

    on METHOD PATH      a block; METHOD may be *, PATH may end in * (any rest);
                        the query counts only if PATH has one
    reply STATUS TYPE   status and Content-Type (TYPE may be left out)
    header NAME: VALUE  one more response header
    body TEXT | @FILE   the body, framed by Content-Length; FILE is relative to --work
    echo                the request's body as the body
    generate            the body generated.py makes for the request's document
    length N            say Content-Length: N whatever is sent
    close               no framing: the end of the connection is the end of the body
    gzip | deflate      encode the body or the chunks
    chunk TEXT          one chunk of a chunked body; \\n \\r \\t \\\\ \\xHH are understood
    pause 20ms          wait between two chunks
    wait NAME           make DIR/NAME.at, go on once DIR/NAME.go exists
    until-gone NAME     wait until the client has closed, then make DIR/NAME
    cut                 close the connection here, whatever was promised

What comes before the first chunk (an empty one will do) or with a body happens before
the head is sent, the rest in its place among the chunks. A block with `cut` alone
closes without an answer.
"""
import argparse
import hashlib
import json
import os
import re
import socket
import ssl
import sys
import threading
import time
import zlib

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import generated

BARRIER_SECONDS = 60
ESCAPES = {"n": b"\n", "r": b"\r", "t": b"\t", "\\": b"\\"}
SETTINGS = {"reply", "header", "body", "echo", "generate", "length", "close", "gzip",
            "deflate"}
ACTIONS = {"chunk", "pause", "wait", "until-gone", "cut"}


class Gone(Exception):
    """The client closed, or the script says to."""


def unescape(text):
    def one(match):
        code = match.group(1)
        return bytes([int(code[1:], 16)]).decode("latin-1") if code[0] == "x" \
            else ESCAPES[code].decode()
    return re.sub(r"\\(x[0-9a-fA-F]{2}|[nrt\\])", one, text).encode("latin-1")


class Block:
    def __init__(self, method, path):
        self.method, self.path = method, path
        self.status, self.type, self.headers = 200, None, []
        self.body = self.length = self.coding = None
        self.echo = self.generate = self.close = False
        self.actions = []

    def matches(self, method, target):
        if self.method not in ("*", method):
            return False
        path = target if "?" in self.path else target.split("?")[0]
        if self.path.endswith("*"):
            return path.startswith(self.path[:-1])
        return path == self.path

    def set(self, word, rest, work):
        if word == "reply":
            status, _, kind = rest.partition(" ")
            self.status, self.type = int(status), kind or None
        elif word == "header":
            name, _, value = rest.partition(":")
            self.headers.append((name.strip(), value.strip()))
        elif word == "body":
            self.body = rest.encode()
            if rest.startswith("@"):
                with open(os.path.join(work, rest[1:]), "rb") as f:
                    self.body = f.read()
        elif word == "length":
            self.length = int(rest)
        elif word in ("gzip", "deflate"):
            self.coding = word
        else:
            setattr(self, word, True)

    def add(self, word, rest):
        value = rest
        if word == "chunk":
            value = unescape(rest)
        elif word == "pause":
            value = int(rest.removesuffix("ms")) / 1000
        self.actions.append((word, value))


def parse(lines, work):
    blocks = []
    for number, line in enumerate(lines, 1):
        line = line.rstrip("\n")
        if not line.strip() or line.startswith("#"):
            continue
        word, _, rest = line.partition(" ")
        if word == "on":
            blocks.append(Block(*rest.split()))
        elif blocks and word in SETTINGS:
            blocks[-1].set(word, rest, work)
        elif blocks and word in ACTIONS:
            blocks[-1].add(word, rest)
        else:
            sys.exit(f"origin: script line {number}: {line!r}")
    return blocks


class Encoder:
    """Content-Encoding over pieces; each piece can be decoded as it arrives."""

    def __init__(self, coding):
        bits = {"gzip": 31, "deflate": 15}.get(coding)
        self.z = zlib.compressobj(6, zlib.DEFLATED, bits) if bits else None

    def piece(self, data):
        if not self.z or not data:
            return data
        return self.z.compress(data) + self.z.flush(zlib.Z_SYNC_FLUSH)

    def end(self):
        return self.z.flush() if self.z else b""


class Origin:
    def __init__(self, blocks, work, log):
        self.blocks, self.work, self.log = blocks, work, log
        self.lock = threading.Lock()
        self.hits, self.turns = 0, {}

    def note(self, method, target, headers, body, secure):
        with self.lock:
            self.hits += 1
            line = {"n": self.hits, "method": method, "target": target, "tls": secure,
                    "headers": headers, "sha256": hashlib.sha256(body).hexdigest(),
                    "body": body[:4096].decode("utf-8", "replace")}
            self.log.write(json.dumps(line) + "\n")
            self.log.flush()

    def block(self, method, target):
        found = [b for b in self.blocks if b.matches(method, target)]
        if not found:
            return None
        name = (found[0].method, found[0].path)
        same = [b for b in found if (b.method, b.path) == name]
        with self.lock:
            turn = self.turns[name] = self.turns.get(name, -1) + 1
        return same[min(turn, len(same) - 1)]

    def path(self, name):
        return os.path.join(self.work, name)

    def mark(self, name):
        with open(self.path(name), "w") as f:
            f.write("here\n")

    def barrier(self, name):
        self.mark(name + ".at")
        end = time.monotonic() + BARRIER_SECONDS
        while not os.path.exists(self.path(name + ".go")):
            if time.monotonic() > end:
                raise Gone
            time.sleep(0.005)

    def until_gone(self, conn, name):
        conn.settimeout(BARRIER_SECONDS)
        try:
            while conn.recv(4096):
                pass
        except socket.timeout:
            raise Gone
        except OSError:
            pass
        self.mark(name)
        raise Gone

    def answer(self, conn, block, method, body):
        chunks = any(action == "chunk" for action, _ in block.actions)
        whole = block.body
        if block.echo:
            whole = body
        if block.generate:
            parts = generated.pieces(json.loads(body))
            chunks = len(parts) > 1
            whole = None if chunks else parts[0]
            block = self.with_chunks(block, parts) if chunks else block
        framed = chunks and whole is None and block.length is None and not block.close
        first = next((i for i, (a, _) in enumerate(block.actions) if a == "chunk"),
                     len(block.actions))
        for action in block.actions[:first]:
            self.act(conn, *action, None, framed)
        self.head(conn, block, whole, framed)
        if method == "HEAD":
            return
        coder = Encoder(block.coding if whole is None else None)
        if whole is not None:
            conn.sendall(self.coded(block, whole))
        for action in block.actions[first:]:
            self.act(conn, *action, coder, framed)
        self.piece(conn, coder.end(), framed)
        if framed:
            conn.sendall(b"0\r\n\r\n")
        if block.close or block.length is not None:
            raise Gone

    def act(self, conn, action, value, coder, framed):
        if action == "chunk":
            self.piece(conn, coder.piece(value), framed)
        elif action == "pause":
            time.sleep(value)
        elif action == "wait":
            self.barrier(value)
        elif action == "until-gone":
            self.until_gone(conn, value)
        else:
            raise Gone

    @staticmethod
    def with_chunks(block, parts):
        copy = Block(block.method, block.path)
        copy.__dict__.update(block.__dict__, type="text/event-stream",
                             actions=[("chunk", p) for p in parts], body=None,
                             generate=False)
        return copy

    @staticmethod
    def coded(block, body):
        coder = Encoder(block.coding)
        return coder.piece(body) + coder.end() if block.coding else body

    def head(self, conn, block, whole, framed):
        lines = [f"HTTP/1.1 {block.status} Scripted"]
        if block.type:
            lines.append(f"Content-Type: {block.type}")
        lines += [f"{n}: {v}" for n, v in block.headers]
        if block.coding:
            lines.append(f"Content-Encoding: {block.coding}")
        if framed:
            lines.append("Transfer-Encoding: chunked")
        elif block.length is not None:
            lines.append(f"Content-Length: {block.length}")
        elif not block.close and block.status not in (204, 304):
            size = len(self.coded(block, whole or b""))
            lines.append(f"Content-Length: {size}")
        if block.close:
            lines.append("Connection: close")
        conn.sendall(("\r\n".join(lines) + "\r\n\r\n").encode("latin-1"))

    @staticmethod
    def piece(conn, data, framed):
        if data:
            conn.sendall(b"%x\r\n%s\r\n" % (len(data), data) if framed else data)

    def serve(self, conn, secure):
        stream = conn.makefile("rb")
        while True:
            line = stream.readline(65536)
            if not line:
                return
            method, target, _ = line.decode("latin-1").split(" ", 2)
            headers = []
            while True:
                line = stream.readline(65536).decode("latin-1").rstrip("\r\n")
                if not line:
                    break
                name, _, value = line.partition(":")
                headers.append([name, value.strip()])
            body = self.request_body(conn, stream, headers)
            self.note(method, target, headers, body, secure)
            block = self.block(method, target)
            if block is None:
                text = b"origin: nothing scripted for this\n"
                conn.sendall(b"HTTP/1.1 404 Unscripted\r\nContent-Length: %d\r\n\r\n%s"
                             % (len(text), text))
                continue
            self.answer(conn, block, method, body)

    @staticmethod
    def request_body(conn, stream, headers):
        by_name = {n.lower(): v for n, v in headers}
        if by_name.get("expect", "").lower() == "100-continue":
            conn.sendall(b"HTTP/1.1 100 Continue\r\n\r\n")
        if "chunked" not in by_name.get("transfer-encoding", "").lower():
            return stream.read(int(by_name.get("content-length", 0)))
        body = b""
        while True:
            size = int(stream.readline().split(b";")[0], 16)
            if size == 0:
                while stream.readline().strip():
                    pass
                return body
            body += stream.read(size)
            stream.readline()

    def connection(self, sock, tls):
        conn = sock
        try:
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            secure = sock.recv(1, socket.MSG_PEEK) == b"\x16"
            if secure and tls is None:
                return
            if secure:
                conn = tls.wrap_socket(sock, server_side=True)
            self.serve(conn, secure)
        except (Gone, OSError, ValueError):
            pass
        finally:
            # A plain close: the rest of what was promised never comes.
            try:
                conn.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass
            conn.close()


def main():
    args = argparse.ArgumentParser()
    for name in ("--work", "--ready", "--log"):
        args.add_argument(name, required=True)
    args.add_argument("--cert")
    args.add_argument("--key")
    args = args.parse_args()

    tls = None
    if args.cert:
        tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        tls.load_cert_chain(args.cert, args.key)
    listener = socket.create_server(("127.0.0.1", 0), backlog=512)
    origin = Origin(parse(sys.stdin, args.work), args.work, open(args.log, "w"))
    with open(args.ready + ".new", "w") as f:
        f.write(f"{listener.getsockname()[1]}\n")
    os.rename(args.ready + ".new", args.ready)
    while True:
        sock, _ = listener.accept()
        threading.Thread(target=origin.connection, args=(sock, tls), daemon=True).start()


main()
