"""A reader of cassette format 1 that shares no code with retape.

    tape.py check FILE...        every rule of the format holds; prints the counts
    tape.py count FILE           how many exchanges
    tape.py get FILE N PATH      a value of exchange N, e.g. response.status
    tape.py body FILE N SIDE     the exact bytes of a body, SIDE request or response
    tape.py urls FILE            "METHOD URL" of every exchange, in order

N counts from 1 in file order; negative from the end.
"""
import base64
import hashlib
import json
import re
import sys

KINDS = {"llm", "tool", "http"}
OUTCOMES = {"complete", "aborted", "error"}
HOP_BY_HOP = {"connection", "keep-alive", "proxy-authorization", "proxy-connection", "te",
              "trailer", "transfer-encoding", "upgrade"}


class Bad(Exception):
    pass


def need(truth, what):
    if not truth:
        raise Bad(what)


def sorted_keys(pairs):
    names = [name for name, _ in pairs]
    need(names == sorted(names), f"keys not sorted: {names}")
    need(len(names) == len(set(names)), f"key twice: {names}")
    return dict(pairs)


class Tape:
    def __init__(self, path):
        self.blobs, self.exchanges, self.bodies = {}, [], {}
        with open(path, "rb") as f:
            data = f.read()
        need(data.endswith(b"\n"), f"{path}: last line is torn")
        for number, line in enumerate(data.split(b"\n")[:-1], 1):
            try:
                doc = json.loads(line.decode(), object_pairs_hook=sorted_keys)
                self.line(number, doc)
            except (Bad, ValueError, KeyError, TypeError) as e:
                raise Bad(f"{path}: line {number}: {e!r}") from e

    def line(self, number, doc):
        if number == 1:
            need(doc["cassette"] == 1, "first line is not a version 1 header")
            need(doc["producer"].startswith("retape/"), "producer")
            need(set(doc) >= {"created_at", "session"}, "header keys")
        elif "blob" in doc:
            data = self.piece_of_blob(doc)
            need(doc["blob"] not in self.blobs, "blob written twice")
            need(doc["blob"] == "sha256:" + hashlib.sha256(data).hexdigest(), "digest")
            need(doc["size"] == len(data), "blob size")
            self.blobs[doc["blob"]] = data
        else:
            self.exchange(doc)

    @staticmethod
    def piece_of_blob(doc):
        if "text" in doc:
            return doc["text"].encode()
        return base64.b64decode(doc["base64"], validate=True)

    def exchange(self, x):
        need(not self.exchanges or x["exchange"] > self.exchanges[-1]["exchange"],
             "exchange numbers do not rise")
        need(re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", x["t"]), "t")
        need(x["kind"] in KINDS, "kind")
        need(x["outcome"] in OUTCOMES, "outcome")
        need(re.fullmatch(r"sha256:[0-9a-f]{64}", x["key"]), "key")
        request, response = x["request"], x.get("response")
        body = self.join(request["body"])
        self.bodies[x["exchange"]] = body
        need(re.fullmatch(r"[0-9a-f]{32}", request["xxh3"]), "xxh3")
        self.headers(request["headers"])
        if response:
            self.headers(response["headers"])
            answer = self.join(response["body"])
            if response.get("chunks"):
                need(sum(n for _, n in response["chunks"]) == len(answer), "chunks' sum")
        if x["outcome"] != "complete":
            need(x["error"]["code"], "an unfinished exchange without its reason")
        self.exchanges.append(x)

    @staticmethod
    def headers(headers):
        for name, value in headers:
            need(isinstance(name, str) and isinstance(value, str), "header")
            need(name.lower() not in HOP_BY_HOP, f"hop-by-hop header {name}")

    def join(self, body):
        if body is None:
            return b""
        if "text" in body:
            return body["text"].encode()
        if "base64" in body:
            return base64.b64decode(body["base64"], validate=True)
        return b"".join(self.part(p) for p in body["parts"])

    def part(self, part):
        if isinstance(part, str):
            return part.encode()
        if "blob" in part:
            need(part["blob"] in self.blobs, "blob used before it is written")
            return self.blobs[part["blob"]]
        base = self.bodies[part["of"]]
        need(0 <= part["at"] and part["at"] + part["len"] <= len(base), "out of range")
        return base[part["at"]:part["at"] + part["len"]]

    def nth(self, n):
        return self.exchanges[int(n) - 1 if int(n) > 0 else int(n)]


def main(verb, path, *rest):
    if verb == "check":
        for name in (path, *rest):
            print(len(Tape(name).exchanges))
        return
    tape = Tape(path)
    if verb == "count":
        print(len(tape.exchanges))
    elif verb == "urls":
        for x in tape.exchanges:
            print(x["request"]["method"], x["request"]["url"])
    elif verb == "get":
        value = tape.nth(rest[0])
        for name in rest[1].split("."):
            value = value[int(name)] if isinstance(value, list) else value[name]
        print(value if isinstance(value, str) else json.dumps(value))
    elif verb == "body":
        sys.stdout.buffer.write(tape.join(tape.nth(rest[0])[rest[1]]["body"]))
    else:
        sys.exit(__doc__)


try:
    main(*sys.argv[1:])
except (Bad, LookupError) as e:
    sys.exit(f"tape: {e}")
