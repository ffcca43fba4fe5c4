"""Other record and replay servers (BENCH_PEERS=1), installed with npm into a cache."""
import contextlib
import json
import os
import subprocess

import chat
import make_cassette
from servers import Broken, Server, answers, fetch, free_ports, wait_for

PATH = "/v1/chat/completions"
BODY = json.dumps({"model": "bench-1",
                   "messages": [{"role": "user", "content": "hello"}]}).encode()
CACHE = os.environ.get("BENCH_CACHE") or os.path.join(
    os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "retape-bench")

TALKBACK = """
const talkback = require("talkback");
talkback({host: process.argv[2], port: Number(process.argv[3]), path: process.argv[4],
          record: talkback.Options.RecordMode.NEW, silent: true, summary: false}).start();
"""


class Peer:
    """A package, its version, and how to start it with one recording of BODY."""

    def __init__(self, name, package, launch):
        self.name, self.package, self.launch = name, package, launch

    def install(self):
        folder = os.path.join(CACHE, self.name)
        if not os.path.isdir(os.path.join(folder, "node_modules")):
            os.makedirs(folder, exist_ok=True)
            done = subprocess.run(["npm", "install", "--silent", "--no-save", "--prefix", folder,
                                   self.package], capture_output=True, text=True)
            if done.returncode != 0:
                raise Broken(f"npm install {self.package}: {done.stderr.strip()[-300:]}")
        return folder

    @contextlib.contextmanager
    def start(self, work, core):
        """The peer on one core, warm: the first request is the one it records."""
        folder = self.install()
        (port,) = free_ports(1)
        with chat.Origin() as origin, \
                Server(self.name, self.launch(folder, work, port, origin.port), core,
                       work) as server:
            server.port = port
            wait_for(self.name, lambda: answers(port), server.process)
            for _ in range(2):
                status, body = fetch(port, PATH, method="POST", body=BODY,
                                     headers={"Content-Type": "application/json"})
                if status != 200:
                    raise Broken(f"{self.name}: {status} {body[:200]!r}")
            write_tape(work, body)
            yield server


def write_tape(work, answer):
    tape = make_cassette.Cassette(os.path.join(work, "cassettes/peers.jsonl"))
    tape.add("POST", "http://bench.test" + PATH, answer, body=BODY, kind="llm",
             dialect="openai.chat", content_type="application/json")
    tape.close()


def launch_aimock(folder, work, port, _):
    fixtures = os.path.join(work, "aimock.json")
    with open(fixtures, "w") as file:
        json.dump({"fixtures": [{"match": {"userMessage": "hello"},
                                 "response": {"content": "hi"}}]}, file)
    return ["node", os.path.join(folder, "node_modules/@copilotkit/aimock/dist/cli.js"),
            "-p", str(port), "-f", fixtures, "--log-level", "silent"]


def launch_talkback(folder, work, port, origin):
    script = os.path.join(folder, "talkback.cjs")
    with open(script, "w") as file:
        file.write(TALKBACK)
    return ["node", script, f"http://127.0.0.1:{origin}", str(port), os.path.join(work, "talkback")]


ALL = (Peer("aimock", "@copilotkit/aimock@1.43.0", launch_aimock),
       Peer("talkback", "talkback@4.2.0", launch_talkback))
