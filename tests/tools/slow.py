"""A client that lets every answer wait in the proxy before it takes it.

    slow.py HOST:PORT URL...

Asks for each URL on a connection of its own with a small receive buffer. While the
answer waits, the proxy's own health page is asked for a few times, so that the proxy
has done all it can; then the answer is read at once. Prints the length of each body;
exit status 1 when one was cut.
"""
import http.client
import socket
import sys

ROUNDS = 20
ROOM = 4096


def body_length(host, port, url):
    with socket.socket() as conn:
        conn.settimeout(30)
        conn.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, ROOM)
        conn.connect((host, port))
        conn.sendall(f"GET {url} HTTP/1.1\r\nHost: x\r\n\r\n".encode())
        for _ in range(ROUNDS):
            other = http.client.HTTPConnection(host, port, timeout=30)
            other.request("GET", "/__retape/health")
            other.getresponse().read()
            other.close()
        conn.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 22)
        answer = http.client.HTTPResponse(conn)
        answer.begin()
        return len(answer.read())


def main():
    host, _, port = sys.argv[1].rpartition(":")
    for url in sys.argv[2:]:
        print(body_length(host, int(port), url), flush=True)


if __name__ == "__main__":
    try:
        main()
    except (http.client.IncompleteRead, ConnectionError):
        sys.exit(1)
