"""Write and check cassettes of format 1 without a line of retape's own code.

    make_cassette.py hits DIR           DIR/hits.jsonl and the request files the load sends
    make_cassette.py load FILE N        N chat exchanges of about 3 KB each
    make_cassette.py check FILE...      recompute every key and xxh3 of a cassette

It follows docs/FORMATS.md only, so that a mistake in the C code cannot hide in both.
"""
import base64
import ctypes
import hashlib
import json
import math
import os
import random
import sys
from decimal import Decimal
from urllib.parse import parse_qsl, urlsplit

SSE_CHUNKS = 200
UPLOAD_BYTES = 200 * 1024
# wrk gives the address it connects to as the TLS server name, and that name counts.
HOSTS = ("http://bench.test", "https://bench.test", "https://127.0.0.1")


# ---- canonical JSON and the key

def number(value):
    """A double by the canonical rules: shortest digits, plain from 1e-5 up to 1e16."""
    if value == 0 or not math.isfinite(value):
        return "null" if value else f"{value!r}"
    negative, figures, exponent = Decimal(repr(value)).as_tuple()
    digits = "".join(map(str, figures))
    point = len(digits) + exponent  # how many digits stand before the point
    digits, sign = digits.rstrip("0"), "-" if negative else ""
    if not -5 < point <= 16:
        rest = f".{digits[1:]}" if len(digits) > 1 else ""
        return f"{sign}{digits[0]}{rest}e{point - 1:+d}"
    if point <= 0:
        return f"{sign}0.{'0' * -point}{digits}"
    digits = digits.ljust(point, "0")
    return f"{sign}{digits[:point]}.{digits[point:] or '0'}"


def canonical(value):
    if isinstance(value, dict):
        # Python orders strings by code point, which is the order of their UTF-8 bytes.
        members = (canonical(k) + ":" + canonical(value[k]) for k in sorted(value))
        return "{" + ",".join(members) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(canonical, value)) + "]"
    if isinstance(value, float):
        return number(value)
    return json.dumps(value, ensure_ascii=False)


def integer(text):
    value = int(text)
    fits = -2**63 <= value < 2**64
    return float(text) if text == "-0" or not fits else value


def refuse(word):
    raise ValueError(f"{word} is not JSON")


def without_rpc_id(value):
    batch = value if isinstance(value, list) else [value]
    if not batch or not all(isinstance(v, dict) and v.get("jsonrpc") == "2.0" for v in batch):
        return value
    bare = [{k: v for k, v in call.items() if k != "id"} for call in batch]
    return bare if isinstance(value, list) else bare[0]


def body_class(body):
    """("json", canonical text) or ("raw", the bytes)."""
    try:
        value = json.loads(body.decode(), parse_int=integer, parse_constant=refuse)
        if isinstance(value, (dict, list)):
            return "json", canonical(without_rpc_id(value)).encode()
    except (ValueError, RecursionError):
        pass
    return "raw", body


def key(method, url, body):
    parts = urlsplit(url)
    port = parts.port or {"http": 80, "https": 443}[parts.scheme]
    query = sorted(parse_qsl(parts.query, keep_blank_values=True))
    kind, text = body_class(body)
    identity = [method, parts.scheme, parts.hostname, port, parts.path or "/",
                [list(pair) for pair in query], kind, hashlib.sha256(text).hexdigest(), []]
    return "sha256:" + hashlib.sha256(canonical(identity).encode()).hexdigest()


class Hash128(ctypes.Structure):
    _fields_ = [("low", ctypes.c_uint64), ("high", ctypes.c_uint64)]


XXH3 = ctypes.CDLL("libxxhash.so.0").XXH3_128bits
XXH3.restype = Hash128
XXH3.argtypes = [ctypes.c_char_p, ctypes.c_size_t]


def xxh3(body):
    digest = XXH3(body, len(body))
    return f"{digest.high:016x}{digest.low:016x}"


# ---- writing

def stored(body):
    if body is None:
        return None
    try:
        return {"text": body.decode()}
    except UnicodeDecodeError:
        return {"base64": base64.b64encode(body).decode()}


class Cassette:
    def __init__(self, path):
        self.file = open(path, "w", encoding="utf-8", newline="\n")
        self.count = 0
        session = os.path.splitext(os.path.basename(path))[0]
        self.line({"cassette": 1, "created_at": "2026-01-01T00:00:00.000Z",
                   "producer": "make_cassette/1", "session": session})

    def line(self, value):
        self.file.write(json.dumps(value, ensure_ascii=False, sort_keys=True,
                                   separators=(",", ":")) + "\n")

    def add(self, method, url, answer, body=None, kind="http", dialect=None,
            content_type="text/plain", chunks=None):
        self.count += 1
        sent = [["Host", urlsplit(url).netloc]]
        if body is not None:
            sent += [["Content-Type", "application/json"], ["Content-Length", str(len(body))]]
        got = [["Server", "origin"], ["Date", "Thu, 01 Jan 2026 00:00:00 GMT"],
               ["Content-Type", content_type]]
        if chunks is None:
            got.append(["Content-Length", str(len(answer))])
        self.line({
            "exchange": self.count, "t": "2026-01-01T00:00:00.000Z", "kind": kind,
            "dialect": dialect, "key": key(method, url, body or b""),
            "request": {"method": method, "url": url, "headers": sent,
                        "body": stored(body), "xxh3": xxh3(body or b"")},
            "response": {"status": 200, "headers": got, "body": stored(answer),
                         "chunks": chunks},
            "outcome": "complete", "error": None, "scrubbed": [],
            "timing": {"connect_ms": 1, "first_byte_ms": 2, "total_ms": 3}})

    def close(self):
        self.file.close()


def words(rng, size):
    """Text that neither compresses to nothing nor looks like a credential."""
    text = ""
    while len(text) < size:
        text += rng.choice(("tape", "river", "model", "answer", "walk", "tool")) + \
            rng.choice((" ", ", ", " of ", " and "))
    return text[:size]


def chat(rng, size):
    return {"model": "bench-1", "messages": [
        {"role": "system", "content": "You are a benchmark."},
        {"role": "user", "content": words(rng, size)}]}


def write_hits(folder):
    """One recording for each row of the table, and the requests as bytes."""
    rng = random.Random(1)
    page = words(rng, 2048).encode()
    event = (b'data: {"id":"c1","object":"chat.completion.chunk","choices":[{"index":0,'
             b'"delta":{"content":"' + words(rng, 72).encode() + b'"}}]}\n\n')
    upload = json.dumps(chat(rng, UPLOAD_BYTES)).encode()
    tape = Cassette(os.path.join(folder, "hits.jsonl"))
    for host in HOSTS:
        tape.add("GET", host + "/2k", page)
        tape.add("GET", host + "/sse", event * SSE_CHUNKS, content_type="text/event-stream",
                 chunks=[[i, len(event)] for i in range(SSE_CHUNKS)])
        tape.add("POST", host + "/upload", b'{"ok":true}', body=upload,
                 content_type="application/json")
    tape.close()
    for name, data in (("2k", page), ("event", event), ("upload", upload)):
        with open(os.path.join(folder, name), "wb") as file:
            file.write(data)


def write_load(path, count):
    rng = random.Random(2)
    tape = Cassette(path)
    texts = [words(rng, 1000) for _ in range(64)]
    for i in range(count):
        request = chat(rng, 0)
        request["messages"][1]["content"] = f"{i} {texts[i % 64]}"
        answer = {"id": f"chat-{i}", "object": "chat.completion", "choices": [
            {"index": 0, "finish_reason": "stop",
             "message": {"role": "assistant", "content": texts[(i * 7) % 64]}}]}
        tape.add("POST", "https://bench.test/v1/chat/completions",
                 json.dumps(answer).encode(), body=json.dumps(request).encode(),
                 kind="llm", dialect="openai.chat", content_type="application/json")
    tape.close()
    with open(path + ".last", "wb") as file:  # the request of the last exchange
        file.write(json.dumps(request).encode())


# ---- reading and checking

def body_of(body, blobs, requests):
    if body is None:
        return b""
    if "text" in body:
        return body["text"].encode()
    if "base64" in body:
        return base64.b64decode(body["base64"], validate=True)
    out = b""
    for part in body["parts"]:
        if isinstance(part, str):
            out += part.encode()
        elif "blob" in part:
            out += blobs[part["blob"]]
        else:
            piece = requests[part["of"]][part["at"]:part["at"] + part["len"]]
            assert len(piece) == part["len"], "a reference beyond its body"
            out += piece
    return out


def check_exchange(line, blobs, requests):
    request, response = line["request"], line["response"]
    body = body_of(request["body"], blobs, requests)
    requests[line["exchange"]] = body
    types = [v.lower() for n, v in request["headers"] if n.lower() == "content-type"]
    if "xxh3" in request and request["xxh3"] != xxh3(body):
        return f"xxh3 is {request['xxh3']}, not {xxh3(body)}"
    if not any(t.startswith(("multipart/", "application/x-www-form")) for t in types):
        want = key(request["method"], request["url"], body)
        if line["key"] != want:
            return f"key is {line['key']}, not {want}"
    if response and response.get("chunks"):
        total, size = sum(n for _, n in response["chunks"]), \
            len(body_of(response["body"], blobs, requests))
        if total != size:
            return f"chunks add up to {total}, the body has {size}"
    return None


def check(path):
    blobs, requests, bad = {}, {}, 0
    with open(path, encoding="utf-8", newline="\n") as file:
        for n, text in enumerate(file, 1):
            line, problem = json.loads(text), None
            if list(line) != sorted(line):
                problem = "keys are not sorted"
            elif n == 1 and line.get("cassette") != 1:
                problem = "no cassette header"
            elif "blob" in line:
                data = body_of({k: line[k] for k in ("text", "base64") if k in line}, {}, {})
                blobs[line["blob"]] = data
                if line["blob"] != "sha256:" + hashlib.sha256(data).hexdigest():
                    problem = "blob is not what its digest says"
            elif "exchange" in line:
                problem = check_exchange(line, blobs, requests)
            if problem:
                bad += 1
                print(f"{path}: line {n}: {problem}")
    if not requests:
        print(f"{path}: no exchanges")
    return bad == 0 and bool(requests)


def main():
    verb, *rest = sys.argv[1:] or [""]
    if verb == "hits" and len(rest) == 1:
        write_hits(rest[0])
    elif verb == "load" and len(rest) == 2:
        write_load(rest[0], int(rest[1]))
    elif verb == "check" and rest:
        return 0 if all([check(path) for path in rest]) else 1
    else:
        print(__doc__, file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
