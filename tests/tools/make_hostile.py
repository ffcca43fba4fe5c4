"""Hostile bundles: make_hostile.py DIR [WORD...]

Writes DIR/NAME.tar.gz for every case (or those whose name holds one of the WORDs, or none
of those written -WORD) and DIR/index, a line each: NAME, a tab, the code it must be
refused with. The same bytes every time. Each differs from a good bundle in the one thing
its name says.
"""
import bz2
import json
import lzma
import os
import struct
import sys
import zlib

from tarball import (END, MINIMAL, facts, gz, header, long_name, manifest, member, octal,
                     padded, pax)

TRACE = b"files/trace.jsonl"
BODY = b'{"n":1}\n'
GOOD = {TRACE.decode(): BODY}
MANIFEST = member(b"manifest.json", manifest(GOOD))
TAIL = member(TRACE, BODY) + END
KEY = b"sk-" + b"ant-api03-" + b"Zq7Rw2Xy9Kd4Mf8Hs3Jt" * 4 + b"-AAAAAA"
GIB = 1 << 30
MIB = 1 << 20

cases = []  # name, code, the bytes or a generator of them


def add(name, code, data):
    cases.append((name, code, data))


def before(name, code, extra, listed=None):
    """A good bundle with something between its manifest and its trace."""
    first = MANIFEST if listed is None else member(b"manifest.json", manifest({**GOOD, **listed}))
    add(name, "E_BUNDLE_" + code, gz(first + extra + TAIL))


def said(name, code, text=None, **keys):
    """A good bundle but for its manifest: these bytes, or these keys changed."""
    text = manifest(GOOD, **keys) if text is None else text
    add("manifest-" + name, code, gz(member(b"manifest.json", text) + TAIL))


def listed(name, code, **entry):
    """The list of files says something else about the trace; None takes a key out."""
    entry = {k: v for k, v in {**facts(BODY), **entry}.items() if v is not None}
    said("files-" + name, code, files={TRACE.decode(): entry})


# ---- names ----

for name, code, path in (
    ("traversal", "PATH_TRAVERSAL", b"../x"),
    ("traversal-deep", "PATH_TRAVERSAL", b"files/../../etc/passwd"),
    ("traversal-inside", "PATH_TRAVERSAL", b"files/../files/x"),
    ("traversal-last", "PATH_TRAVERSAL", b"outputs/.."),
    ("traversal-bare", "PATH_TRAVERSAL", b".."),
    ("traversal-absolute", "PATH_TRAVERSAL", b"/files/../../x"),
    ("traversal-backslash", "PATH_TRAVERSAL", b"..\\..\\x"),
    ("traversal-mixed", "PATH_TRAVERSAL", b"files\\../..\\x"),
    ("dot", "PATH_TRAVERSAL", b"."),
    ("dot-segment", "PATH_TRAVERSAL", b"files/./x"),
    ("dot-first", "PATH_TRAVERSAL", b"./files/x"),
    ("dot-manifest", "PATH_TRAVERSAL", b"./manifest.json"),
    ("absolute", "PATH_ABSOLUTE", b"/etc/passwd"),
    ("absolute-twice", "PATH_ABSOLUTE", b"//etc/passwd"),
    ("absolute-manifest", "PATH_ABSOLUTE", b"/manifest.json"),
    ("backslash", "PATH_BACKSLASH", b"windows\\system32\\x"),
    ("backslash-share", "PATH_BACKSLASH", b"\\\\server\\share\\x"),
    ("drive", "PATH_DRIVE", b"C:/foo"),
    ("drive-backslash", "PATH_DRIVE", b"C:\\foo"),
    ("drive-relative", "PATH_DRIVE", b"D:bar"),
    ("drive-absolute", "PATH_DRIVE", b"/C:/files/x"),
    ("stream-name", "PATH_DRIVE", b"files:hidden/x"),
    ("empty-segment", "PATH_SEGMENT", b"files//x"),
    ("empty", "PATH_EMPTY", b""),
    ("only-slashes", "PATH_EMPTY", b"///"),
    ("prefix", "PATH_PREFIX", b"evil.txt"),
    ("prefix-home", "PATH_PREFIX", b"~/.ssh/authorized_keys"),
    ("prefix-case", "PATH_PREFIX", b"Files/x"),
    ("prefix-singular", "PATH_PREFIX", b"output/run.json"),
    ("prefix-alone", "PATH_PREFIX", b"files"),
    ("prefix-manifest-case", "PATH_PREFIX", b"Manifest.json"),
    ("not-utf8", "PATH_NOT_UTF8", b"files/\xff\xfe"),
    ("not-utf8-overlong", "PATH_NOT_UTF8", b"files/\xc0\xae\xc0\xae/x"),
    ("not-utf8-surrogate", "PATH_NOT_UTF8", b"files/\xed\xa0\x80"),
):
    before("path-" + name, code, member(path, b"x"))

before("path-nul", "PATH_NUL", member(b"files/x\0../../y", b"x"), {"files/x": b"x"})
before("path-nul-first", "PATH_NUL", member(b"\0files/x", b"x"), {"files/x": b"x"})
before("path-prefix-field", "PATH_TRAVERSAL",
       member(b"x", b"x", magic=b"ustar\x0000", prefix=b"files/.."))
before("path-257", "LIMIT_PATH",
       long_name(b"files/" + b"x" * 251) + member(b"files/x", b"x"), {"files/" + "x" * 251: b"x"})
before("path-300-gnu", "LIMIT_PATH", long_name(b"files/" + b"x" * 294) + member(b"files/x", b"x"))
before("path-300-pax", "LIMIT_PATH",
       pax([(b"path", b"files/" + b"x" * 294)]) + member(b"files/x", b"x"))

# ---- pax and GNU records ----

for name, code, value in (
    ("traversal", "PATH_TRAVERSAL", b"../x"),
    ("absolute", "PATH_ABSOLUTE", b"/etc/passwd"),
    ("drive", "PATH_DRIVE", b"C:/x"),
    ("nul", "PATH_NUL", b"files/x\0/../../y"),
    ("not-utf8", "PATH_NOT_UTF8", b"files/\xff"),
    ("manifest", "DUPLICATE_MANIFEST", b"manifest.json"),
    ("duplicate", "DUPLICATE_PATH", TRACE),
):
    before("pax-path-" + name, code, pax([(b"path", value)]) + member(b"files/x", b"x"),
           {"files/x": b"x"})
    before("gnu-path-" + name, code, long_name(value) + member(b"files/x", b"x"),
           {"files/x": b"x"})

inner = member(b"../x", b"x")
for name, code, records in (
    ("path-empty", "PATH_EMPTY", [(b"path", b"")]),
    ("path-twice", "TAR_EXTENSION", [(b"path", b"files/x"), (b"path", b"../x")]),
    ("size-larger", "TAR_EXTENSION", [(b"size", b"1536")]),
    ("size-smaller", "TAR_EXTENSION", [(b"size", b"0")]),
    ("size-negative", "TAR_EXTENSION", [(b"size", b"-1")]),
    ("size-overflow", "TAR_EXTENSION", [(b"size", b"99999999999999999999999")]),
    ("size-word", "TAR_EXTENSION", [(b"size", b"many")]),
    ("link", "TAR_EXTENSION", [(b"linkpath", b"/etc/passwd")]),
    ("charset", "TAR_EXTENSION", [(b"hdrcharset", b"BINARY"), (b"path", b"files/x")]),
    ("sparse", "TAR_EXTENSION", [(b"GNU.sparse.major", b"1"), (b"GNU.sparse.minor", b"0"),
                                 (b"GNU.sparse.name", b"../x"),
                                 (b"GNU.sparse.realsize", b"10737418240")]),
    ("sparse-map", "TAR_EXTENSION", [(b"GNU.sparse.size", b"10737418240"),
                                     (b"GNU.sparse.numblocks", b"1"),
                                     (b"GNU.sparse.map", b"0,1")]),
    ("length-short", "TAR_EXTENSION", b"5 path=files/x\n"),
    ("length-long", "TAR_EXTENSION", b"999 path=files/x\n"),
    ("length-zero", "TAR_EXTENSION", b"0 path=files/x\n"),
    ("length-missing", "TAR_EXTENSION", b"path=files/x\n"),
    ("length-overflow", "TAR_EXTENSION", b"18446744073709551617 path=files/x\n"),
    ("no-equals", "TAR_EXTENSION", b"9 files/\n"),
    ("no-line-end", "TAR_EXTENSION", b"16 path=files/xx"),
):
    # A body that is a header itself: whoever disagrees on the size reads "../x" next.
    before("pax-" + name, code, pax(records) + member(b"files/x", inner), {"files/x": inner})

before("pax-global-path", "TAR_GLOBAL", pax([(b"path", b"../x")], kind=b"g"))
before("pax-global-comment", "TAR_GLOBAL", pax([(b"comment", b"hello")], kind=b"g"))
before("pax-twice", "TAR_EXTENSION", pax([(b"path", b"files/x")]) +
       pax([(b"path", b"../x")]) + member(b"files/x", b"x"), {"files/x": b"x"})
before("pax-and-gnu", "TAR_EXTENSION", pax([(b"path", b"files/x")]) + long_name(b"../x") +
       member(b"files/x", b"x"), {"files/x": b"x"})
before("gnu-twice", "TAR_EXTENSION", long_name(b"files/x") + long_name(b"../x") +
       member(b"files/x", b"x"), {"files/x": b"x"})
before("gnu-link", "TAR_EXTENSION", long_name(b"/etc/passwd", b"K") + member(b"files/x", b"x"),
       {"files/x": b"x"})
before("gnu-empty", "TAR_EXTENSION", member(b"././@LongLink", b"", kind=b"L") +
       member(b"files/x", b"x"), {"files/x": b"x"})
before("gnu-path-of-link", "TYPE_SYMLINK",
       long_name(b"files/x") + member(b"y", kind=b"2", link=b"/etc/passwd"))
before("pax-large", "TAR_EXTENSION", pax([(b"comment", b"x" * 100000)]) + member(b"files/x", b"x"))
before("gnu-large", "TAR_EXTENSION",
       long_name(b"files/" + b"x" * 100000) + member(b"files/x", b"x"))
for name, record in (("pax", pax([(b"path", b"files/x")])), ("gnu", long_name(b"files/x"))):
    add(name + "-dangling", "E_BUNDLE_TAR_EXTENSION",
        gz(MANIFEST + member(TRACE, BODY) + record + END))
add("pax-dangling-at-eof", "E_BUNDLE_TRUNCATED",
    gz(MANIFEST + member(TRACE, BODY) + pax([(b"path", b"files/x")])))
add("pax-path-for-manifest", "E_BUNDLE_MANIFEST_MISSING",
    gz(pax([(b"path", b"files/m.json")]) + MANIFEST + TAIL))

# ---- types ----

for kind, name, code in ((b"1", "hardlink", "HARDLINK"), (b"2", "symlink", "SYMLINK"),
                         (b"3", "character-device", "DEVICE"), (b"4", "block-device", "DEVICE"),
                         (b"5", "folder", "FOLDER"), (b"6", "fifo", "FIFO"),
                         (b"7", "contiguous", "OTHER"), (b"S", "sparse", "SPARSE"),
                         (b"D", "dump", "OTHER"), (b"M", "multi-volume", "OTHER"),
                         (b"V", "label", "OTHER"), (b"N", "old-name", "OTHER"),
                         (b"Z", "unknown", "OTHER"), (b"\xff", "unknown-byte", "OTHER")):
    before("type-" + name, "TYPE_" + code, member(b"files/x", kind=kind, link=b"../../../x"),
           {"files/x": b""})
before("type-symlink-with-body", "TYPE_SYMLINK",
       member(b"files/x", b"body", kind=b"2", link=b"/etc/passwd"), {"files/x": b"body"})
before("type-hardlink-with-body", "TYPE_HARDLINK",
       member(b"files/x", b"body", kind=b"1", link=b"manifest.json"), {"files/x": b"body"})
before("type-symlink-then-through-it", "TYPE_SYMLINK",
       member(b"files/d", kind=b"2", link=b"/tmp") + member(b"files/d/x", b"x"))
# A regular file with the map of a sparse one in its GNU header: some readers follow it.
before("type-sparse-hidden", "TYPE_SPARSE", member(
    b"files/x", b"x", prefix=bytes(41) + b"00000000000\x0000000000000\0"), {"files/x": b"x"})
before("type-old-folder", "TYPE_FOLDER", member(b"files/d/"))
before("type-folder-of-prefix", "TYPE_FOLDER", member(b"files/", kind=b"5"))
add("type-manifest-symlink", "E_BUNDLE_TYPE_SYMLINK",
    gz(member(b"manifest.json", kind=b"2", link=b"files/trace.jsonl") + TAIL))
add("type-manifest-folder", "E_BUNDLE_TYPE_FOLDER",
    gz(member(b"manifest.json/", kind=b"5") + MANIFEST + TAIL))

# ---- the same name twice, and which manifest ----

for name, code, first, second in (
    ("same", "DUPLICATE_PATH", b"files/x", b"files/x"),
    ("slash", "DUPLICATE_PATH", b"files/x", b"/files/x"),
    ("backslash", "DUPLICATE_PATH", b"files\\x", b"files/x"),
    ("file-and-folder", "COLLISION", b"files/x", b"files/x/y"),
    ("folder-and-file", "COLLISION", b"files/x/y", b"files/x"),
    ("case", "COLLISION", b"files/README", b"files/ReadMe"),
    ("case-of-folder", "COLLISION", b"files/D/x", b"files/d/y"),
):
    names = [p.decode().replace("\\", "/").lstrip("/") for p in (first, second)]
    before("twice-" + name, code, member(first, b"x") + member(second, b"x"),
           {p: b"x" for p in names})
before("twice-manifest", "DUPLICATE_MANIFEST", MANIFEST)
add("manifest-last", "E_BUNDLE_MANIFEST_LATE", gz(member(TRACE, BODY) + MANIFEST + END))
add("manifest-second", "E_BUNDLE_MANIFEST_LATE",
    gz(member(b"files/a") + member(b"manifest.json", manifest({**GOOD, "files/a": b""})) + TAIL))
add("manifest-missing", "E_BUNDLE_MANIFEST_MISSING", gz(TAIL))
add("manifest-in-folder", "E_BUNDLE_MANIFEST_MISSING",
    gz(member(b"files/manifest.json", manifest(GOOD)) + TAIL))
add("archive-of-nothing", "E_BUNDLE_MANIFEST_MISSING", gz(END))

# ---- gzip ----

whole = gz(MANIFEST + TAIL)
HEAD = 10  # bytes of the gzip header


def trailer(data, crc=0, size=0):
    return struct.pack("<II", (zlib.crc32(data) + crc) & 0xFFFFFFFF, len(data) + size)


tar = MANIFEST + TAIL
for name, code, data in (
    ("empty-file", "NOT_GZIP", b""),
    ("one-byte", "NOT_GZIP", b"\x1f"),
    ("text", "NOT_GZIP", b"this is not an archive\n" * 50),
    ("plain-tar", "NOT_GZIP", tar),
    ("bzip2", "NOT_GZIP", bz2.compress(tar)),
    ("xz", "NOT_GZIP", lzma.compress(tar)),
    ("zlib", "NOT_GZIP", zlib.compress(tar)),
    ("zip", "NOT_GZIP", b"PK\x05\x06" + bytes(18)),
    ("method", "NOT_GZIP", whole[:2] + b"\x07" + whole[3:]),
    ("reserved-flags", "NOT_GZIP", whole[:3] + b"\xe0" + whole[4:]),
    ("header-only", "TRUNCATED", whole[:HEAD]),
    ("half-header", "TRUNCATED", whole[:5]),
    ("endless-name", "TRUNCATED", whole[:3] + b"\x08" + whole[4:HEAD] + b"x" * 200000),
    ("garbage", "GZIP_DATA", whole[:HEAD] + b"\xff" * 100),
    ("flipped", "GZIP_DATA", whole[:HEAD] + b"\x07" + whole[HEAD + 1:]),
    ("far-distance", "GZIP_DATA", whole[:HEAD] + bytes.fromhex("030200") + whole[-8:]),
    ("checksum", "GZIP_CHECKSUM", whole[:-8] + trailer(tar, crc=1)),
    ("length", "GZIP_CHECKSUM", whole[:-8] + trailer(tar, size=1)),
    ("no-trailer", "TRUNCATED", whole[:-8]),
    ("half-trailer", "TRUNCATED", whole[:-4]),
    ("cut", "TRUNCATED", whole[:len(whole) // 2]),
    ("nested", "NESTED_GZIP", gz(whole)),
    ("nested-thrice", "NESTED_GZIP", gz(gz(gz(whole)))),
    ("not-tar", "NOT_TAR", gz(b"this is not a tar\n" * 100)),
    ("zip-inside", "NOT_TAR", gz(b"PK\x03\x04" + bytes(range(256)) * 4)),
    ("cpio-inside", "NOT_TAR", gz(b"070701" + b"0" * 104 + bytes(range(1, 255)) * 4)),
    ("split-tar", "TRUNCATED", gz(MANIFEST + member(TRACE, BODY)) + gz(END)),
    ("split-member", "TRUNCATED", gz(tar[:len(MANIFEST) + 512]) + gz(tar[len(MANIFEST) + 512:])),
    ("smuggled-second", "TRUNCATED", gz(MANIFEST) + gz(member(b"../x", b"x") + END)),
):
    add("gzip-" + name, "E_BUNDLE_" + code, data)

# ---- tar ----

for block in range(0, len(tar), 512):
    add(f"cut-at-block-{block // 512}", "E_BUNDLE_TRUNCATED", gz(tar[:block]))
    if block:  # mid-block: what is left is neither header nor body
        add(f"cut-in-block-{block // 512}", "E_BUNDLE_TRUNCATED", gz(tar[:block + 100]))

for name, code, block in (
    ("checksum", "TAR_CHECKSUM", header(b"files/x", 1, checksum=b"0000000\0")),
    ("checksum-spaces", "TAR_CHECKSUM", header(b"files/x", 1, checksum=b" " * 8)),
    ("checksum-word", "TAR_CHECKSUM", header(b"files/x", 1, checksum=b"checksum")),
    ("size-word", "TAR_NUMBER", header(b"files/x", raw_size=b"zzzzzzzzzzz\0")),
    ("size-minus", "TAR_NUMBER", header(b"files/x", raw_size=b"-0000000001\0")),
    ("size-negative", "TAR_NUMBER", header(b"files/x", raw_size=octal(-1, 12))),
    ("size-most-negative", "TAR_NUMBER", header(b"files/x", raw_size=octal(-(1 << 63), 12))),
    ("size-2-to-63", "TAR_NUMBER", header(b"files/x", raw_size=octal(1 << 63, 12))),
    ("size-2-to-64", "TAR_NUMBER", header(b"files/x", raw_size=octal((1 << 64) + 1, 12))),
    ("size-almost-2-to-87", "TAR_NUMBER", header(b"files/x", raw_size=octal((1 << 87) - 1, 12))),
    ("size-almost-2-to-63", "LIMIT_MEMBER", header(b"files/x", raw_size=octal((1 << 63) - 1, 12))),
    ("size-8-gib", "LIMIT_MEMBER", header(b"files/x", raw_size=b"77777777777\0")),
):
    before("tar-" + name, code, block + padded(b"x"), {"files/x": b"x"})
before("tar-garbage-between", "NOT_TAR", b"garbage!" * 64)
add("tar-size-beyond-end", "E_BUNDLE_TRUNCATED",
    gz(MANIFEST + member(TRACE, BODY) + header(b"files/x", 4096) + b"x" * 512))
add("tar-single-zero-block", "E_BUNDLE_TAR_TRAILING",
    gz(MANIFEST + bytes(512) + member(TRACE, BODY) + END))
add("tar-members-after-end", "E_BUNDLE_TAR_TRAILING", gz(tar + member(b"../x", b"x") + END))
add("tar-text-after-end", "E_BUNDLE_TAR_TRAILING", gz(tar + padded(b"hello")))

# ---- ceilings ----


def zeros(first, size, last=b""):
    """A gzip stream that unpacks to `first`, `size` zero bytes and `last`; it has no
    trailer, for nobody gets there."""
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    yield b"\x1f\x8b\x08" + bytes(6) + b"\xff"
    yield packer.compress(first) + packer.flush(zlib.Z_FULL_FLUSH)
    # After a full flush equal input gives equal output, so one piece can be repeated.
    piece = packer.compress(bytes(MIB)) + packer.flush(zlib.Z_FULL_FLUSH)
    for _ in range(size // MIB):
        yield piece
    yield packer.compress(last) + packer.flush()


def bombs(count):
    """Members of 500 MiB, each within its own ceiling, one after the other."""
    stream = zeros(MANIFEST, 0)
    yield next(stream)
    yield next(stream)
    for i in range(count):
        parts = zeros(header(b"files/%03d" % i, 500 * MIB), 500 * MIB)
        next(parts)
        yield from list(parts)[:-1]


def many(count):
    names = (b"files/%06d" % i for i in range(count - 1))
    yield gz(member(b"manifest.json", manifest()) + b"".join(map(header, names)) + END, 1)


def deep(levels):
    """A manifest nested so many levels deep."""
    return manifest(GOOD, env={"d": 0}).replace(
        b'"d":0', b'"d":' + b"[" * (levels - 2) + b"]" * (levels - 2))


add("bomb-one-member", "E_BUNDLE_LIMIT_MEMBER",
    zeros(MANIFEST + header(b"files/x", 10 * GIB), 10 * GIB))
add("bomb-members", "E_BUNDLE_LIMIT_DECODED", bombs(21))
add("bomb-manifest", "E_BUNDLE_LIMIT_MEMBER", zeros(header(b"manifest.json", 10 * GIB), 10 * GIB))
add("bomb-after-end", "E_BUNDLE_LIMIT_DECODED", zeros(MANIFEST + TAIL, 10 * GIB))
add("bomb-pax", "E_BUNDLE_TAR_EXTENSION",
    zeros(MANIFEST + header(b"x", 10 * GIB, kind=b"x"), 10 * GIB))
add("bomb-long-name", "E_BUNDLE_TAR_EXTENSION",
    zeros(MANIFEST + header(b"x", 10 * GIB, kind=b"L"), 10 * GIB))
add("limit-member", "E_BUNDLE_LIMIT_MEMBER",
    zeros(MANIFEST + header(b"files/x", 500 * MIB + 1), 501 * MIB))
add("limit-manifest", "E_BUNDLE_LIMIT_MEMBER",
    gz(member(b"manifest.json", manifest(GOOD).ljust(10 * MIB + 1)) + TAIL))
add("limit-entries", "E_BUNDLE_LIMIT_ENTRIES", many(100001))
add("limit-source", "E_BUNDLE_LIMIT_SOURCE", (whole, 100 * MIB + 1))
said("depth-65", "E_MANIFEST_DEPTH", deep(65))
said("depth-100000", "E_MANIFEST_DEPTH", deep(100000))
said("depth-unclosed", "E_MANIFEST_DEPTH", b'{"a":' * 1000000)

# ---- manifest.json ----

text = manifest(GOOD)
for name, code, data in (
    ("empty", "JSON", b""),
    ("blank", "JSON", b"   "),
    ("zeros", "JSON", bytes(64)),
    ("cut", "JSON", text[:-1]),
    ("trailing", "JSON", text + b"{}"),
    ("trailing-nul", "JSON", text + b"\0"),
    ("comment", "JSON", b"/* */" + text),
    ("trailing-comma", "JSON", text[:-1] + b",}"),
    ("single-quotes", "JSON", text.replace(b'"', b"'")),
    ("nan", "JSON", text[:-1] + b',"x":NaN}'),
    ("leading-zero", "JSON", text.replace(b'n":1', b'n":01', 1)),
    ("control", "JSON", text[:-1] + b',"x":"\n"}'),
    ("not-utf8", "JSON", text[:-1] + b',"x":"\xff"}'),
    ("lone-surrogate", "JSON", text[:-1] + b',"x":"\\ud800"}'),
    ("byte-order-mark", "JSON", b"\xef\xbb\xbf" + text),
    ("utf16", "JSON", text.decode().encode("utf-16")),
    ("array", "TYPE", b"[" + text + b"]"),
    ("text", "TYPE", b'"manifest"'),
    ("null", "TYPE", b"null"),
    ("duplicate-version", "DUPLICATE_KEY", text[:-1] + b',"schema_version":1}'),
    ("duplicate-files", "DUPLICATE_KEY", text[:-1] + b',"files":{}}'),
    ("duplicate-escaped", "DUPLICATE_KEY", text[:-1] + b',"\\u0066iles":{}}'),
    ("duplicate-null", "DUPLICATE_KEY", text[:-1] + b',"env":null,"env":{}}'),
    ("duplicate-path", "DUPLICATE_KEY",
     text.replace(b'"files/t', b'"files/\\u0074race.jsonl":{"sha256":"","size":0},"files/t')),
    ("duplicate-size", "DUPLICATE_KEY", text.replace(b'"size":', b'"size":8,"size":')),
    ("version-huge", "NUMBER", text.replace(b'n":1', b'n":' + b"9" * 400, 1)),
    ("version-2-to-32", "NUMBER", text.replace(b'n":1', b'n":4294967297', 1)),
    ("version-exponent", "NUMBER", text.replace(b'n":1', b'n":1e0', 1)),
    ("version-fraction", "NUMBER", text.replace(b'n":1', b'n":1.0', 1)),
    ("version-negative", "NUMBER", text.replace(b'n":1', b'n":-1', 1)),
    ("number-infinite", "JSON", text[:-1] + b',"x":1e999}'),
    ("size-negative", "NUMBER", text.replace(b'"size":8', b'"size":-8')),
    ("size-fraction", "NUMBER", text.replace(b'"size":8', b'"size":8.0')),
    ("size-huge", "NUMBER", text.replace(b'"size":8', b'"size":18446744073709551616')),
    ("size-digits", "NUMBER", text.replace(b'"size":8', b'"size":' + b"8" * 100000)),
    ("mode-huge", "NUMBER", text.replace(b'"mode":420', b'"mode":4294967296')),
):
    said(name, "E_MANIFEST_" + code, data)

for name, code, keys in (
    ("version-2", "VERSION", {"schema_version": 2}),
    ("version-0", "VERSION", {"schema_version": 0}),
    ("version-text", "TYPE", {"schema_version": "1"}),
    ("version-missing", "MISSING_KEY", {"schema_version": None}),
    ("assay-version-missing", "MISSING_KEY", {"assay_version": None}),
    ("assay-version-number", "TYPE", {"assay_version": 5}),
    ("created-at-number", "TYPE", {"created_at": 0}),
    ("trace-path-array", "TYPE", {"trace_path": ["files/trace.jsonl"]}),
    ("git-dirty-text", "TYPE", {"git_dirty": "no"}),
    ("outputs-text", "TYPE", {"outputs": "outputs/run.json"}),
    ("outputs-run-object", "TYPE", {"outputs": {"run": {}}}),
    ("toolchain-array", "TYPE", {"toolchain": []}),
    ("runner-text", "TYPE", {"toolchain": {"runner": "ubuntu"}}),
    ("ci-number", "TYPE", {"toolchain": {"runner": {"ci": 1}}}),
    ("seed-number", "TYPE", {"seeds": {"order_seed": 42}}),
    ("seed-version-text", "TYPE", {"seeds": {"seed_version": "1"}}),
    ("coverage-array", "TYPE", {"replay_coverage": []}),
    ("coverage-missing", "MISSING_KEY", {"replay_coverage": {"incomplete_tests": []}}),
    ("coverage-numbers", "TYPE", {"replay_coverage": {"complete_tests": [1],
                                                      "incomplete_tests": []}}),
    ("coverage-reason", "TYPE", {"replay_coverage": {"complete_tests": [], "incomplete_tests": [],
                                                     "reason": {"t": 1}}}),
    ("scrub-text", "TYPE", {"scrub_policy": {"include_prompts": "false"}}),
    ("env-array", "TYPE", {"env": []}),
):
    said(name, "E_MANIFEST_" + code, **keys)
said("files-array", "E_MANIFEST_TYPE",
     json.dumps({**MINIMAL, "files": ["files/trace.jsonl"]}).encode())

for name, code, entry in (
    ("hash-missing", "MISSING_KEY", {"sha256": None}),
    ("size-missing", "MISSING_KEY", {"size": None}),
    ("hash-number", "TYPE", {"sha256": 1}),
    ("size-text", "TYPE", {"size": "8"}),
    ("mode-text", "TYPE", {"mode": "0644"}),
):
    listed(name, "E_MANIFEST_" + code, **entry)
said("files-entry-text", "E_MANIFEST_TYPE", files={"files/trace.jsonl": facts(BODY)["sha256"]})

# ---- what the manifest says is not what is there ----

right = facts(BODY)["sha256"]
for name, value in (("hash", "sha256:" + "0" * 64),
                    ("hash-uppercase", "sha256:" + right[7:].upper()),
                    ("hash-short", "sha256:deadbeef"), ("hash-long", right + "00"),
                    ("hash-empty", ""), ("hash-prefix", "sha512:" + right[7:]),
                    ("hash-prefix-case", "SHA256:" + right[7:]), ("hash-space", right + " ")):
    listed(name, "E_BUNDLE_HASH", sha256=value)
listed("size", "E_BUNDLE_SIZE", size=999)
listed("size-zero", "E_BUNDLE_SIZE", size=0)
listed("size-2-to-64", "E_BUNDLE_SIZE", size=2**64 - 1)
said("files-missing", "E_BUNDLE_MISSING", files={"files/missing.jsonl": facts(b"")})
said("files-none", "E_BUNDLE_UNLISTED", manifest({}))
before("unlisted", "UNLISTED", member(b"outputs/extra.json", b"{}"))
before("unlisted-secret", "UNLISTED", member(b"cassettes/extra.txt", KEY))
for name, path in (("traversal", "../x"), ("absolute", "/etc/passwd"), ("drive", "C:/x"),
                   ("prefix", "x"), ("not-normal", "/files/y"), ("manifest", "manifest.json")):
    said("files-path-" + name, "E_MANIFEST_FILES", files={path: facts(b"")})
for name, path in (("traversal", "../../etc/passwd"), ("absolute", "/etc/passwd"),
                   ("missing", "files/none.jsonl"), ("manifest", "manifest.json"), ("empty", "")):
    said("trace-path-" + name, "E_BUNDLE_TRACE_PATH", trace_path=path)
for name, path in (("traversal", "../../etc/passwd"), ("missing", "outputs/none.json")):
    said("outputs-path-" + name, "E_BUNDLE_OUTPUTS_PATH", outputs={"run": path})

# ---- secrets ----

for folder in ("files", "cassettes"):
    path = folder + "/key.txt"
    before("secret-in-" + folder, "SECRET", member(path.encode(), KEY), {path: KEY})
said("secret", "E_BUNDLE_SECRET", env={"KEY": KEY.decode()})


def write(folder, name, data):
    with open(os.path.join(folder, name + ".tar.gz"), "wb") as f:
        if isinstance(data, bytes):
            f.write(data)
        elif isinstance(data, tuple):  # bytes, and how long a file of zeros they begin
            f.write(data[0])
            f.truncate(data[1])
        else:
            f.writelines(data)


def main(folder, *words):
    without = [word[1:] for word in words if word.startswith("-")]
    words = [word for word in words if not word.startswith("-")]
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, "index"), "w") as index:
        for name, code, data in cases:
            if any(word in name for word in without):
                continue
            if not words or any(word in name for word in words):
                write(folder, name, data)
                index.write(f"{name}\t{code}\n")


assert len({name for name, _, _ in cases}) == len(cases)
main(*sys.argv[1:])
