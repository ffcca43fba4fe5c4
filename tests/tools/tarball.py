"""Bundles made by hand, byte by byte, without the program under test.

    tarball.py OUT [option...] PATH=TEXT...     a bundle with these members, in this order

Options: --merge JSON sets keys of the manifest (null takes one out, `files` adds to the
list), --no-files leaves the list of files out, members behind --unlisted are not in it,
--level N chooses the compression. TEXT may hold Python's backslash escapes, @FILE takes
the bytes of a file; PATH has no "=". The manifest lists the normal form of every PATH.
As a module: the pieces make_hostile.py is built from.
"""
import hashlib
import json
import sys
import zlib

END = bytes(1024)
MINIMAL = {
    "schema_version": 1,
    "assay_version": "5.4.0",
    "scrub_policy": {"include_prompts": False, "scrub_cassettes": True, "name": "default"},
}


def octal(value, width):
    """A number field: digits and NUL, or base 256 when it does not fit (or is negative)."""
    if 0 <= value < 8 ** (width - 1):
        return b"%0*o\0" % (width - 1, value)
    return bytes([0xFF if value < 0 else 0x80]) + value.to_bytes(width - 1, "big", signed=True)


def header(name, size=0, kind=b"\0", link=b"", magic=b"ustar  \0", prefix=b"", raw_size=None,
           checksum=None):
    """One 512-byte header as the bundle writer's; everything can be made wrong."""
    block = bytearray(512)
    for at, value in ((0, name), (100, b"0000644\0"), (108, octal(0, 8)), (116, octal(0, 8)),
                      (124, raw_size or octal(size, 12)), (136, octal(0, 12)), (148, b" " * 8),
                      (156, kind), (157, link), (257, magic), (345, prefix)):
        block[at:at + len(value)] = value
    block[148:156] = b"%07o\0" % sum(block) if checksum is None else checksum
    return bytes(block)


def padded(body):
    return body + bytes(-len(body) % 512)


def member(name, body=b"", **fields):
    return header(name, len(body), **fields) + padded(body)


def pax(records, kind=b"x"):
    """A pax header: records is a list of (key, value), or the raw bytes."""
    body = records if isinstance(records, bytes) else b"".join(map(pax_record, records))
    return member(b"PaxHeaders/x", body, kind=kind, magic=b"ustar\x0000")


def pax_record(pair):
    text = b" %s=%s\n" % pair
    size = len(text)
    while len(b"%d" % size) + len(text) != size:
        size += 1
    return b"%d" % size + text


def long_name(name, kind=b"L", end=b"\0"):
    return member(b"././@LongLink", name + end, kind=kind)


def gz(data, level=6):
    packer = zlib.compressobj(level, zlib.DEFLATED, 31)
    return packer.compress(data) + packer.flush()


def facts(body):
    """What a manifest says about a member."""
    return {"sha256": "sha256:" + hashlib.sha256(body).hexdigest(), "size": len(body),
            "mode": 420}


def manifest(members=None, /, **keys):
    """The bytes of a manifest that lists these members (path to body), with keys set as
    given: None takes one out, files adds entries as they are."""
    value = dict(MINIMAL)
    if members is not None:
        value["files"] = {path: facts(body) for path, body in sorted(members.items())}
    for key, new in keys.items():
        if new is None:
            value.pop(key, None)
        elif key == "files" and isinstance(new, dict):
            value.setdefault("files", {}).update(new)
        else:
            value[key] = new
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False).encode()


def unescape(text):
    if text.startswith("@"):
        with open(text[1:], "rb") as f:
            return f.read()
    return text.encode().decode("unicode_escape").encode("latin-1")


def main(out, *words):
    members, normal, keys, listed, level, words = [], {}, {}, True, 6, list(words)
    while words:
        word = words.pop(0)
        if word == "--merge":
            keys = json.loads(words.pop(0))
        elif word == "--no-files":
            normal = None
        elif word == "--unlisted":
            listed = False
        elif word == "--level":
            level = int(words.pop(0))
        else:
            path, _, text = word.partition("=")
            members.append((path, unescape(text)))
            if listed and normal is not None:
                normal[path.replace("\\", "/").lstrip("/")] = members[-1][1]
    data = member(b"manifest.json", manifest(normal, **keys))
    data += b"".join(member(path.encode(), body) for path, body in members) + END
    with open(out, "wb") as f:
        f.write(gz(data, level))


if __name__ == "__main__":
    main(*sys.argv[1:])
