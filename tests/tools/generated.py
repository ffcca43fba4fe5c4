"""The answers a generating origin gives, as a pure function of the request.

The origin makes them, the swarm checks them: both import this module, so every byte of
every answer is known without keeping any.
"""
import hashlib
import json


def filler(seed, size):
    """`size` bytes of text that depend on the seed only."""
    block = hashlib.sha256(seed.encode()).hexdigest()
    return (block * (size // len(block) + 1))[:size]


def pieces(request):
    """The response body for a request document, in the pieces it is sent in.

    {"id": .., "size": n} is answered at once; with "pieces": k as a stream of k events.
    """
    ident, size = str(request["id"]), int(request.get("size", 100))
    count = int(request.get("pieces", 0))
    if not count:
        return [json.dumps({"id": ident, "text": filler(ident, size)}).encode()]
    return [
        b"data: " + json.dumps({"id": ident, "n": n, "text": filler(f"{ident}/{n}", size)})
        .encode() + b"\n\n"
        for n in range(count)
    ]
