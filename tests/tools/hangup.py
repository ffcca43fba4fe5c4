"""Accept connections on a free port, read a little and close: hangup.py PORTFILE"""
import os
import socket
import sys

listener = socket.create_server(("127.0.0.1", 0))
with open(sys.argv[1] + ".new", "w") as f:
    f.write(str(listener.getsockname()[1]))
os.rename(sys.argv[1] + ".new", sys.argv[1])
while True:
    sock, _ = listener.accept()
    sock.recv(65536)
    sock.close()
