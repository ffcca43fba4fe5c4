"""Bundles beside tar and gzip: making one, checking one, and the memory it takes.

Works on files made here: cassette-like text that compresses about four to one. Both
sides of a row take turns, on both cores, and the medians of the times are compared.
"""
import os
import random
import statistics
import subprocess
import time

from make_cassette import words
from servers import Broken

MEGABYTES = int(os.environ.get("BENCH_BUNDLE_MB", 200))


def make_inputs(folder):
    rng = random.Random(7)
    os.makedirs(os.path.join(folder, "cassettes"))
    lines = [words(rng, 900) for _ in range(2000)]
    left = MEGABYTES * 1_000_000
    number = 0
    while left > 0:
        number += 1
        path = os.path.join(folder, "cassettes", f"part-{number:03}.jsonl")
        with open(path, "w", encoding="ascii") as out:
            size = min(left, 40_000_000)
            while size > 0:
                text = f'{{"n":{rng.getrandbits(60)},"text":"{rng.choice(lines)}"}}\n'
                out.write(text)
                size -= len(text)
                left -= len(text)
    with open(os.path.join(folder, "agent.json"), "w", encoding="ascii") as out:
        out.write('{"model":"bench-1"}\n')


def timed(command, cwd):
    began = time.monotonic()
    process = subprocess.Popen(command, cwd=cwd, shell=isinstance(command, str),
                               stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    _, errors = process.communicate()
    if process.returncode != 0:
        raise Broken(f"{command}: {errors.decode(errors='replace').strip()[-300:]}")
    return time.monotonic() - began


def peak_memory(command, cwd):
    """Largest resident size of one command, in MB."""
    script = ("import resource,subprocess,sys;"
              "subprocess.run(sys.argv[1:],check=True,stdout=subprocess.DEVNULL,"
              "stderr=subprocess.DEVNULL);"
              "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)")
    out = subprocess.run(["/usr/bin/python3", "-c", script, *command], cwd=cwd, check=True,
                         capture_output=True, text=True)
    return int(out.stdout) / 1000


def rows(table, program, work, rounds):
    folder = os.path.join(work, "bundle")
    os.makedirs(folder)
    make_inputs(folder)
    create = [program, "create", "--run-id", "bench", "--cassettes", "cassettes",
              "--config", "agent.json", "--created-at", "2026-01-01T00:00:00Z",
              "--output", "bench.tar.gz"]
    verify = [program, "verify", "bench.tar.gz"]
    tar = "tar c cassettes agent.json | gzip -6 >tar.tar.gz"
    unpack = "gzip -dc <bench.tar.gz | sha256sum"
    times = {name: [] for name in ("create", "tar", "verify", "unpack")}
    for _ in range(rounds):
        times["tar"].append(timed(tar, folder))
        times["create"].append(timed(create, folder))
        times["unpack"].append(timed(unpack, folder))
        times["verify"].append(timed(verify, folder))
    rate = {name: MEGABYTES / statistics.median(values) for name, values in times.items()}
    table.row("bundle create", "MB/s", rate["create"], rate["tar"], "tar | gzip -6",
              (">=", 0.7))
    table.row("bundle verify", "MB/s", rate["verify"], rate["unpack"],
              "gzip -dc | sha256", (">=", 0.6))
    table.row("bundle create, memory", "MB", peak_memory(create, folder), 64, "64 MB",
              ("<=", 1))
    table.row("bundle verify, memory", "MB", peak_memory(verify, folder), 64, "64 MB",
              ("<=", 1))
