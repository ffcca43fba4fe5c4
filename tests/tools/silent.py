"""Hold connections that never get anywhere: silent.py HOST:PORT READYFILE

One says nothing, one stops inside a request head, one inside a CONNECT, one inside a
TLS handshake in a tunnel, one inside a body. Held until the process is ended.
"""
import os
import signal
import socket
import sys

BEGINNINGS = (
    b"",
    b"GET http://llm.test/x HTTP/1.1\r\nHost: llm",
    b"CONNECT llm.test:4",
    b"CONNECT llm.test:443 HTTP/1.1\r\nHost: llm.test:443\r\n\r\n\x16\x03\x01",
    b"\x16\x03\x01\x02\x00\x01",
    b"POST http://llm.test/x HTTP/1.1\r\nHost: llm.test\r\nContent-Length: 9\r\n\r\nabc",
)
host, _, port = sys.argv[1].rpartition(":")
held = []
for beginning in BEGINNINGS:
    sock = socket.create_connection((host, int(port)))
    sock.sendall(beginning)
    held.append(sock)
with open(sys.argv[2] + ".new", "w") as f:
    f.write("held\n")
os.rename(sys.argv[2] + ".new", sys.argv[2])
signal.pause()
