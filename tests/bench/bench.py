"""Measure retape against nginx on this machine and print one table.

    bench.py RETAPE LOAD WORK

The server has one core to itself, the load another; the two servers of a row take
turns in short rounds and the medians are compared, so that a noisy machine is noisy
for both. `cpu` is the same ratio for work done per second of the server's own processor
time; where there is one it is what the target is held against, because the plain ratio
flatters the slower server when the load generator is the bottleneck. Nothing is
asserted: a missed target prints "below", and only a row that could not be measured
makes the exit status 1.

    BENCH_SECONDS=2  BENCH_ROUNDS=3  BENCH_IDLE=6000  BENCH_PEERS=0  BENCH_ONLY=regex
"""
import json
import os
import re
import statistics
import subprocess
import sys
import time

import bundles
import chat
import pace
import peers
from servers import (LOAD_CORE, ORIGIN_CORE, SERVER_CORE, SSE_CHUNKS, Broken, Nginx, Retape,
                     fetch, raise_descriptor_limit)
from idle import hold_idle

SECONDS = float(os.environ.get("BENCH_SECONDS", 2))
ROUNDS = int(os.environ.get("BENCH_ROUNDS", 3))
IDLE = int(os.environ.get("BENCH_IDLE", 6000))
ONLY = re.compile(os.environ.get("BENCH_ONLY", ""))
CONNECTIONS = 32
HANDSHAKERS = 4
HERE = os.path.dirname(os.path.abspath(__file__))
COLUMNS = ("work", "unit", "retape", "reference", "", "ratio", "cpu", "target", "")


class Table:
    """Rows are printed as they come; a target is a pair ('>=', 1.2) or None."""

    LAYOUT = "{:<47} {:<7} {:>10} {:>10}  {:<18} {:>7} {:>6} {:>8}  {}"

    def __init__(self):
        self.failed = 0
        print(self.LAYOUT.format(*COLUMNS), flush=True)

    @staticmethod
    def text(value):
        if value is None:
            return "-"
        return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"

    def row(self, name, unit, ours, theirs, against, target=None, cpu=None, ratio=None):
        if ratio is None and theirs:
            ratio = ours / theirs
        verdict = ""
        if target:
            sign, bound = target
            held = ratio if cpu is None else cpu
            met = held >= bound if sign == ">=" else held <= bound
            verdict = "ok" if met else "below"
        print(self.LAYOUT.format(
            name, unit, self.text(ours), self.text(theirs), against,
            "-" if ratio is None else f"{ratio:.2f}", "-" if cpu is None else f"{cpu:.2f}",
            f"{target[0]} {target[1]:g}" if target else "-", verdict), flush=True)

    def broken(self, name, reason):
        self.failed += 1
        print(f"{name:<47} did not run: {reason}", flush=True)


def on_load_core(*command):
    result = subprocess.run(["taskset", "-c", str(LOAD_CORE), *command],
                            capture_output=True, text=True)
    if result.returncode != 0:
        raise Broken(f"{command[0]} failed: {(result.stderr or result.stdout).strip()}")
    return result.stdout


class Bench:
    def __init__(self, retape, load, work):
        self.program, self.load, self.work = retape, load, work
        self.table = Table()

    def retape(self, mode, session, *options):
        return Retape(self.program, mode, self.work, session, *options)

    # ---- load

    def request_file(self, name, method, path, body=b""):
        head = f"{method} {path} HTTP/1.1\r\nHost: 127.0.0.1\r\n"
        if body:
            head += f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n"
        full = os.path.join(self.work, name + ".http")
        with open(full, "wb") as file:
            file.write(head.encode() + b"\r\n" + body)
        return full

    def plain(self, port, request, connections=CONNECTIONS):
        line = on_load_core(self.load, "127.0.0.1", str(port), request, str(connections),
                            str(SECONDS))
        got = {k: float(v) for k, v in (pair.split("=") for pair in line.split())}
        if got["errors"]:
            raise Broken(f"{got['errors']:.0f} errors in {got['requests']:.0f} requests")
        got["rate"] = got["requests"] / got["seconds"]
        return got

    def plain_rate(self, port, request):
        return lambda: self.plain(port, request)["rate"]

    @staticmethod
    def tls_rate(port, path, times=1):
        def run():
            out = on_load_core("wrk", "-t1", f"-c{CONNECTIONS}", f"-d{max(1, round(SECONDS))}s",
                               "-H", "Host: bench.test", f"https://127.0.0.1:{port}{path}")
            bad = re.search(r"(Non-2xx.*|Socket errors.*)", out)
            if bad:
                raise Broken(f"wrk: {bad.group(1)}")
            return float(re.search(r"Requests/sec:\s+([\d.]+)", out).group(1)) * times
        return run

    @staticmethod
    def handshake_rate(port):
        def run():
            began = time.monotonic()
            clients = [subprocess.Popen(
                ["taskset", "-c", str(LOAD_CORE), "openssl", "s_time", "-new", "-tls1_3",
                 "-connect", f"127.0.0.1:{port}", "-time", str(max(1, round(SECONDS)))],
                stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
                for _ in range(HANDSHAKERS)]
            counts = [re.search(r"(\d+) connections in [\d.]+s", c.communicate()[0])
                      for c in clients]
            if not all(counts) or any(c.returncode for c in clients):
                raise Broken("openssl s_time failed")
            return sum(int(c.group(1)) for c in counts) / (time.monotonic() - began)
        return run

    # ---- comparing

    def compare(self, name, target, ours, theirs, against="nginx", unit="1/s"):
        """ours and theirs: (server, function that runs one round and gives a rate)."""
        if not ONLY.search(name):
            return
        sides = (ours, theirs)
        rates, per_cpu = ([], []), ([], [])
        try:
            for _ in range(ROUNDS):
                for i, (server, run) in enumerate(sides):
                    cpu, began = server.cpu_seconds(), time.monotonic()
                    rate = run()
                    spent = server.cpu_seconds() - cpu
                    rates[i].append(rate)
                    per_cpu[i].append(rate * (time.monotonic() - began) / max(spent, 1e-9))
        except Broken as error:
            self.table.broken(name, error)
            return
        medians = [statistics.median(r) for r in rates]
        cpu = statistics.median(per_cpu[0]) / statistics.median(per_cpu[1])
        self.table.row(name, unit, *medians, against, target, cpu)

    @staticmethod
    def same_answer(ours, theirs):
        """Both servers must give the same body, or the row compares nothing."""
        for (port, path, options), who in ((ours, "retape"), (theirs, "nginx")):
            status, body = fetch(port, path, **options)
            if status != 200:
                raise Broken(f"{who}: {status} for {path}: {body[:300].decode('latin-1')}")
            if who == "nginx" and body != first:
                raise Broken(f"the servers disagree about {path}")
            first = body

    # ---- rows

    def replay_rows(self, nginx):
        upload = open(os.path.join(self.work, "upload"), "rb").read()
        post = {"method": "POST", "body": upload,
                "headers": {"Content-Type": "application/json"}}
        with self.retape("replay", "hits", "--repeat", "cycle") as retape:
            plain = "/to/http/bench.test"
            for path, ours, options in (("/2k", plain, {}), ("/upload", plain, post),
                                        ("/2k", "", {"tls": True}), ("/sse", "", {"tls": True})):
                tls = options.get("tls", False)
                self.same_answer(
                    (retape.tls_port if tls else retape.port, ours + path, options),
                    (nginx.tls_port if tls else nginx.port, path, options))
            hit = self.plain_rate(retape.port, self.request_file("ours", "GET", plain + "/2k"))
            static = self.request_file("static", "GET", "/2k")
            self.compare("replay hit, plain, 2 KB", (">=", 1.2), (retape, hit),
                         (nginx, self.plain_rate(nginx.port, static)), "nginx static")
            self.compare("replay hit, plain, 2 KB", None, (retape, hit), (
                nginx, self.plain_rate(nginx.port, self.request_file(
                    "unsent", "GET", "/unsent/2k"))), "nginx, no sendfile")
            self.compare("replay hit, TLS keep-alive, 2 KB", (">=", 0.55),
                         (retape, self.tls_rate(retape.tls_port, "/2k")),
                         (nginx, self.tls_rate(nginx.tls_port, "/2k")), "nginx TLS static")
            self.compare("event stream, TLS, 200 chunks", (">=", 1.2),
                         (retape, self.tls_rate(retape.tls_port, "/sse", SSE_CHUNKS)),
                         (nginx, self.tls_rate(nginx.tls_port, "/sse", SSE_CHUNKS)),
                         "nginx echo", "chunk/s")
            self.compare("new TLS 1.3 connections", (">=", 0.25),
                         (retape, self.handshake_rate(retape.tls_port)),
                         (nginx, self.handshake_rate(nginx.tls_port)), "nginx")
            self.compare(
                "replay hit with a 200 KB request", (">=", 0.5),
                (retape, self.plain_rate(retape.port, self.request_file(
                    "ours-upload", "POST", plain + "/upload", upload))),
                (nginx, self.plain_rate(nginx.port, self.request_file(
                    "upload", "POST", "/upload", upload))), "nginx, same upload")

    def record_rows(self, nginx, origin):
        with self.retape(
                "record", "record", "--resolve", f"bench.test:443:127.0.0.1:{origin.tls_port}",
                "--upstream-ca", os.path.join(self.work, "certs/ca.pem")) as retape:
            path = "/to/https/bench.test/2k"
            self.same_answer((retape.port, path, {}), (nginx.port, "/proxy/2k", {}))
            ours = self.request_file("ours-record", "GET", path)
            theirs = self.request_file("proxy", "GET", "/proxy/2k")
            self.compare("record: forward and store, 2 KB", (">=", 0.4),
                         (retape, self.plain_rate(retape.port, ours)),
                         (nginx, self.plain_rate(nginx.port, theirs)), "nginx proxy")
            self.first_byte_row(
                retape.port, ours, nginx.port, theirs, origin.port,
                self.request_file("direct", "GET", "/2k"))
        os.unlink(os.path.join(self.work, "cassettes/record.jsonl"))

    def first_byte_row(self, *pairs):
        """Milliseconds more than the origin itself, on one warm connection."""
        name = "record: time to first byte, added"
        if not ONLY.search(name):
            return
        ms = [[], [], []]
        for _ in range(ROUNDS):
            for i, (port, request) in enumerate(zip(pairs[::2], pairs[1::2])):
                ms[i].append(self.plain(port, request, 1)["first_byte_us"] / 1000)
        ours, theirs, direct = map(statistics.median, ms)
        self.table.row(name, "ms", ours - direct, theirs - direct, "nginx proxy")

    def load_rows(self, count, time_target, memory_target):
        name = f"load {count:,} exchanges of 3 KB"
        if not ONLY.search(name):
            return
        tape = os.path.join(self.work, "cassettes/load.jsonl")
        subprocess.run([sys.executable, os.path.join(HERE, "make_cassette.py"), "load", tape,
                        str(count)], check=True)
        with open(tape + ".last", "rb") as file:
            last = file.read()
        starts, counts, memory = [], [], 0
        for _ in range(ROUNDS):
            began = time.monotonic()
            subprocess.run(["taskset", "-c", str(SERVER_CORE), "wc", "-l", tape], check=True,
                           stdout=subprocess.DEVNULL)
            counts.append(time.monotonic() - began)
            began = time.monotonic()
            with self.retape("replay", "load") as retape:
                status, body = fetch(
                    retape.port, "/to/https/bench.test/v1/chat/completions", method="POST",
                    body=last, headers={"Content-Type": "application/json"})
                starts.append(time.monotonic() - began)
                if status != 200:
                    raise Broken(f"{status} for the last exchange: {body[:300]!r}")
                memory = retape.memory("RssAnon")
        self.table.row(f"{name}, first answer", "s", statistics.median(starts),
                       statistics.median(counts), "wc -l", time_target)
        self.table.row(f"{name}, private memory", "MB", memory / 1e6,
                       os.path.getsize(tape) / 1e6, "the file", memory_target)
        os.unlink(tape)

    def chat_rows(self):
        if not ONLY.search("cassette of a chat"):
            return
        with chat.Origin() as origin, self.retape("record", "chat", "--allow-empty") as retape:
            wire = {turns: chat.converse(retape.port, origin.port, turns)
                    for turns in (10, 100, 200)}
        stored = {turns: os.path.getsize(os.path.join(self.work, f"cassettes/chat-{turns}.jsonl"))
                  for turns in wire}
        for turns, new in wire.items():
            self.table.row(f"cassette of a chat, {turns} turns", "bytes", stored[turns], new,
                           "new on the wire", ("<=", 2.5))
        self.table.row("cassette of a chat, bytes a turn", "bytes", stored[200] / 200,
                       stored[10] / 10, "at 10 turns", ("<=", 1.1))

    def idle_rows(self, nginx):
        name = f"{IDLE:,} idle TLS connections"
        if not ONLY.search(name):
            return
        with self.retape("replay", "hits", "--repeat", "cycle") as retape:
            ours, theirs = (hold_idle(server, IDLE) for server in (retape, nginx))
        self.table.row(f"{name}, memory each", "KB", ours.each / 1e3, theirs.each / 1e3, "nginx")
        self.table.row(f"{name}, memory in all", "MB", ours.total / 1e6, 500 * IDLE / 6000,
                       "500 MB for 6,000", ("<=", 1))
        self.table.row(f"{name}, processor", "%", ours.cpu_percent, theirs.cpu_percent, "nginx",
                       ratio=0)

    def peer_rows(self):
        for peer in peers.ALL:
            name = f"plain keep-alive hits against {peer.name}"
            if not ONLY.search(name):
                continue
            try:
                with peer.start(self.work, SERVER_CORE) as theirs, \
                        self.retape("replay", "peers", "--repeat", "cycle") as ours:
                    request = self.request_file("peer", "POST", peers.PATH, peers.BODY)
                    mine = self.request_file("mine", "POST", "/to/http/bench.test" + peers.PATH,
                                             peers.BODY)
                    self.compare(name, (">=", 8), (ours, self.plain_rate(ours.port, mine)),
                                 (theirs, self.plain_rate(theirs.port, request)), peer.name)
            except Broken as error:
                self.table.broken(name, error)

    def pace_rows(self):
        if ONLY.search("pace of a stream"):
            pace.rows(self.table, self.retape, self.work)

    def bundle_rows(self):
        program = os.path.join(os.path.dirname(self.program), "retape-bundle")
        if ONLY.search("bundle create verify memory"):
            bundles.rows(self.table, program, self.work, ROUNDS)

    def run(self):
        with Nginx("origin", ORIGIN_CORE, self.work) as origin, \
                Nginx("nginx", SERVER_CORE, self.work, origin) as nginx:
            sections = [
                ("replay", lambda: self.replay_rows(nginx)),
                ("record", lambda: self.record_rows(nginx, origin)),
                ("load", lambda: self.load_rows(100000, ("<=", 20), ("<=", 0.3))),
                ("load 1,000", lambda: self.load_rows(1000, None, None)),
                ("chat", self.chat_rows),
                ("idle", lambda: self.idle_rows(nginx)),
                ("pace", self.pace_rows),
                ("bundle", self.bundle_rows),
            ]
            if os.environ.get("BENCH_PEERS", "0") not in ("", "0"):
                sections.append(("peers", self.peer_rows))
            for name, section in sections:
                try:
                    section()
                except (Broken, OSError, subprocess.SubprocessError) as error:
                    self.table.broken(name, error)
        return 1 if self.table.failed else 0


def main():
    if len(sys.argv) != 4:
        print(__doc__, file=sys.stderr)
        return 2
    raise_descriptor_limit()
    os.makedirs(os.path.join(sys.argv[3], "cassettes"), exist_ok=True)
    return Bench(*map(os.path.abspath, sys.argv[1:])).run()


if __name__ == "__main__":
    sys.exit(main())
