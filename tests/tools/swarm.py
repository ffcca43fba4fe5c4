"""Many clients at once through the proxy, every byte of every answer checked.

    swarm.py --proxy HOST:PORT --ca FILE [options]

Each client keeps one TLS connection to llm.test (through CONNECT) and asks one thing
after the other: a short document or a stream of events, made by generated.py. Ids are
LABEL-CLIENT-NUMBER, unique in a run.

    --clients N       how many at once (default 20)
    --seconds S       for how long (default: no end)
    --each N          how many requests each (default: no end)
    --rate R          requests a second, all clients together (default: as fast as can be)
    --sessions N      spread the clients over the sessions s0 .. sN-1
    --label TEXT      first part of every id
    --finished FILE   append the id of every exchange that is over for sure: the answer
                      to the next request on its connection has come whole
    --kill PID --kill-after N   end PID with SIGKILL after N answers

Prints one JSON line: answers, streams, wrong, cut. Exit status 1 when an answer was
wrong, or when one was cut and nobody was killed.
"""
import argparse
import asyncio
import json
import os
import signal
import ssl
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import generated

TARGET = "llm.test"


class Swarm:
    def __init__(self, args):
        self.args = args
        self.host, _, self.port = args.proxy.rpartition(":")
        self.tls = ssl.create_default_context(cafile=args.ca)
        self.counts = {"answers": 0, "streams": 0, "wrong": 0, "cut": 0}
        self.finished = open(args.finished, "a") if args.finished else None
        self.end = time.monotonic() + args.seconds if args.seconds else None
        self.killed = False
        self.started = time.monotonic()

    def over(self):
        return self.killed or self.end is not None and time.monotonic() > self.end

    def request(self, client, number):
        doc = {"id": f"{self.args.label}-{client}-{number}", "size": 100 + number % 7 * 300}
        if (client + number) % 3 == 0:
            doc["pieces"] = 2 + number % 9
        return doc

    def came(self, pieces):
        self.counts["answers"] += 1
        self.counts["streams"] += len(pieces) > 1
        if self.args.kill and self.counts["answers"] == self.args.kill_after:
            os.kill(self.args.kill, signal.SIGKILL)
            self.killed = True

    async def pace(self):
        """Keep the whole swarm below the rate asked for."""
        while self.args.rate:
            due = self.started + self.counts["answers"] / self.args.rate
            wait = due - time.monotonic()
            if wait <= 0:
                return
            await asyncio.sleep(min(wait, 0.2))

    async def connect(self):
        reader, writer = await asyncio.open_connection(self.host, int(self.port))
        writer.write(f"CONNECT {TARGET}:443 HTTP/1.1\r\nHost: {TARGET}:443\r\n\r\n".encode())
        head = await reader.readuntil(b"\r\n\r\n")
        if b" 200 " not in head.split(b"\r\n")[0] + b" ":
            raise ConnectionError(head)
        await writer.start_tls(self.tls, server_hostname=TARGET)
        return reader, writer

    async def ask(self, reader, writer, client, doc):
        body = json.dumps(doc).encode()
        session = f"X-Retape-Session: s{client % self.args.sessions}\r\n" \
            if self.args.sessions else ""
        writer.write(f"POST /v1/swarm HTTP/1.1\r\nHost: {TARGET}\r\n{session}"
                     "Content-Type: application/json\r\n"
                     f"Content-Length: {len(body)}\r\n\r\n".encode() + body)
        await writer.drain()
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").lower()
        if not head.startswith("http/1.1 200"):
            return head.encode() + await reader.read(1000)
        if "transfer-encoding: chunked" in head:
            got = b""
            while size := int(await reader.readuntil(b"\r\n"), 16):
                got += await reader.readexactly(size)
                await reader.readexactly(2)
            await reader.readexactly(2)
            return got
        length = int(head.split("content-length:")[1].split("\r\n")[0])
        return await reader.readexactly(length)

    async def client(self, client):
        number, before, writer = 0, None, None
        while not self.over() and (not self.args.each or number < self.args.each):
            try:
                if writer is None:
                    reader, writer = await self.connect()
                await self.pace()
                if self.over():
                    break
                doc = self.request(client, number)
                number += 1
                got = await self.ask(reader, writer, client, doc)
                want = generated.pieces(doc)
                if got != b"".join(want):
                    self.counts["wrong"] += 1
                    print(f"swarm: {doc['id']}: got {got[:300]!r}", file=sys.stderr)
                if self.finished and before:
                    self.finished.write(before + "\n")
                before = doc["id"]
                self.came(want)
            except (OSError, EOFError, asyncio.IncompleteReadError, ssl.SSLError) as e:
                if not self.killed:
                    self.counts["cut"] += 1
                    print(f"swarm: client {client}: {e!r}", file=sys.stderr)
                return
        if writer:
            writer.close()

    async def run(self):
        await asyncio.gather(*(self.client(n) for n in range(self.args.clients)))
        if self.finished:
            self.finished.close()
        print(json.dumps(self.counts))
        return 1 if self.counts["wrong"] or self.counts["cut"] else 0


def main():
    args = argparse.ArgumentParser()
    args.add_argument("--proxy", required=True)
    args.add_argument("--ca", required=True)
    for name in ("--clients", "--each", "--sessions", "--kill", "--kill-after"):
        args.add_argument(name, type=int, default=0)
    for name in ("--seconds", "--rate"):
        args.add_argument(name, type=float, default=0)
    args.add_argument("--label", default="x")
    args.add_argument("--finished")
    args = args.parse_args()
    args.clients = args.clients or 20
    sys.exit(asyncio.run(Swarm(args).run()))


main()
