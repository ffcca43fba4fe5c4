"""Leaves and authority must satisfy OpenSSL's strict X.509 checks (RFC 5280).

Run as the command of retape: takes proxy and authority from the environment.
"""
import os
import socket
import ssl
import sys
from urllib.parse import urlsplit

HOSTS = ("api.openai.com", "a.b.c.web.test", "xn--bcher-kva.test", "x" * 63 + ".test",
         "192.0.2.7")


def tunnel(proxy, host):
    sock = socket.create_connection((proxy.hostname, proxy.port), 20)
    sock.sendall(f"CONNECT {host}:443 HTTP/1.1\r\nHost: {host}:443\r\n\r\n".encode())
    answer = b""
    while b"\r\n\r\n" not in answer:
        piece = sock.recv(4096)
        if not piece:
            break
        answer += piece
    if not answer.startswith(b"HTTP/1.1 200"):
        raise OSError(f"CONNECT was answered {answer[:60]!r}")
    return sock


def direct(proxy, _):
    return socket.create_connection((proxy.hostname, proxy.port), 20)


def main():
    proxy = urlsplit(os.environ["HTTPS_PROXY"])
    context = ssl.create_default_context(cafile=os.environ["NODE_EXTRA_CA_CERTS"])
    context.verify_flags |= ssl.VERIFY_X509_STRICT
    failed = 0
    for way in (tunnel, direct):
        for host in HOSTS:
            if way is direct and host[0].isdigit():
                continue  # an address cannot be a server name (RFC 6066 section 3)
            try:
                with context.wrap_socket(way(proxy, host), server_hostname=host) as tls:
                    print(way.__name__, host, tls.version())
            except OSError as error:
                failed += 1
                print(way.__name__, host, error, file=sys.stderr)
    return 1 if failed else 0


sys.exit(main())
