"""What the benchmark measures: retape and nginx, each a process pinned to one core."""
import http.client
import os
import resource
import signal
import socket
import ssl
import subprocess
import time

CORES = sorted(os.sched_getaffinity(0))
SERVER_CORE, LOAD_CORE, ORIGIN_CORE = CORES[0], CORES[1 % len(CORES)], CORES[-1]
PATIENCE_SECONDS = 60
SSE_CHUNKS = 200
ECHO_MODULE = "/usr/lib/nginx/modules/ngx_http_echo_module.so"


class Broken(Exception):
    """A row that could not be measured, and why."""


def raise_descriptor_limit():
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


def free_ports(count):
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [s.getsockname()[1] for s in sockets]
    for s in sockets:
        s.close()
    return ports


def answers(port):
    try:
        socket.create_connection(("127.0.0.1", port), 1).close()
        return True
    except OSError:
        return False


def wait_for(what, condition, process):
    end = time.monotonic() + PATIENCE_SECONDS
    while not condition():
        if process.poll() is not None:
            raise Broken(f"{what} ended with {process.returncode}")
        if time.monotonic() > end:
            raise Broken(f"{what} was not ready after {PATIENCE_SECONDS} s")
        time.sleep(0.001)


def insecure_tls():
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    return context


def fetch(port, path, tls=False, method="GET", body=None, headers=None):
    """One request; (status, body). TLS names bench.test and verifies nothing."""
    sock = socket.create_connection(("127.0.0.1", port), PATIENCE_SECONDS)
    if tls:
        sock = insecure_tls().wrap_socket(sock, server_hostname="bench.test")
    connection = http.client.HTTPConnection("bench.test" if tls else "127.0.0.1",
                                            timeout=PATIENCE_SECONDS)
    connection.sock = sock
    try:
        connection.request(method, path, body, headers or {})
        response = connection.getresponse()
        return response.status, response.read()
    finally:
        connection.close()


class Server:
    """A process of ours on one core; `log` holds what it printed."""

    def __init__(self, name, command, core, work, env=None):
        self.name, self.log = name, os.path.join(work, f"{name}.log")
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen(
                ["taskset", "-c", str(core), *command], stdin=subprocess.DEVNULL, stdout=log,
                stderr=log, cwd=work, env={**os.environ, **(env or {})})

    def pids(self):
        pid = self.process.pid
        with open(f"/proc/{pid}/task/{pid}/children") as children:
            return [pid, *map(int, children.read().split())]

    def cpu_seconds(self):
        total = 0
        for pid in self.pids():
            for task in os.listdir(f"/proc/{pid}/task"):
                with open(f"/proc/{pid}/task/{task}/schedstat") as stat:
                    total += int(stat.read().split()[0])
        return total / 1e9

    def memory(self, field):
        """VmRSS, RssAnon...: bytes, of the process and its children."""
        total = 0
        for pid in self.pids():
            with open(f"/proc/{pid}/status") as status:
                total += sum(int(line.split()[1]) * 1024 for line in status
                             if line.startswith(field + ":"))
        return total

    def stop(self):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            try:
                self.process.wait(PATIENCE_SECONDS)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        return self.process.returncode

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()


class Retape(Server):
    def __init__(self, program, mode, work, session, *options):
        ready = os.path.join(work, "retape.ready")
        if os.path.exists(ready):
            os.unlink(ready)
        super().__init__("retape", [
            program, mode, "--listen", "127.0.0.1:0", "--ready-file", ready, "--workers", "1",
            "--cassettes", os.path.join(work, "cassettes"), "--session", session,
            "--output", os.path.join(work, "outputs"), *options,
        ], SERVER_CORE, work, {"RETAPE_CONFIG_DIR": os.path.join(work, "config")})
        try:
            wait_for("retape", lambda: os.path.exists(ready) and os.path.getsize(ready),
                     self.process)
        except Broken:
            self.stop()
            raise
        with open(ready) as file:
            self.port = self.tls_port = int(file.read().strip().rpartition(":")[2])


class Nginx(Server):
    """Static page, event stream, upload and reverse proxy, plain and over TLS."""

    def __init__(self, name, core, work, origin=None):
        self.port, self.tls_port = free_ports(2)
        conf = os.path.join(work, f"{name}.conf")
        with open(os.path.join(work, "event")) as file:
            event = file.read().rstrip("\n").replace("'", "\\'")
        proxy = "" if origin is None else f"""
            location /proxy/ {{
                proxy_pass https://origin/;
                proxy_http_version 1.1;
                proxy_set_header Connection "";
                proxy_set_header Host bench.test;
                proxy_ssl_name bench.test;
                proxy_ssl_server_name on;
                proxy_ssl_verify on;
                proxy_ssl_trusted_certificate {work}/certs/ca.pem;
            }}"""
        upstream = "" if origin is None else f"""
        upstream origin {{ server 127.0.0.1:{origin.tls_port}; keepalive 64; }}"""
        stream = f"echo '{event}\\n'; echo_flush;\n" * SSE_CHUNKS
        with open(conf, "w") as file:
            file.write(f"""
    {"user root;" if os.geteuid() == 0 else ""}
    worker_processes 1;
    daemon off;
    pid {work}/{name}.pid;
    error_log {work}/{name}.log error;
    worker_rlimit_nofile {resource.getrlimit(resource.RLIMIT_NOFILE)[0]};
    load_module {ECHO_MODULE};
    events {{ worker_connections 8192; }}
    http {{
        access_log off;
        sendfile on;
        tcp_nopush on;
        keepalive_requests 1000000000;
        keepalive_timeout 600s;
        client_max_body_size 1m;
        client_body_buffer_size 512k;
        client_body_temp_path {work}/{name}.body;
        proxy_temp_path {work}/{name}.proxy;
        fastcgi_temp_path {work}/{name}.fastcgi;
        uwsgi_temp_path {work}/{name}.uwsgi;
        scgi_temp_path {work}/{name}.scgi;
        {upstream}
        server {{
            listen 127.0.0.1:{self.port};
            listen 127.0.0.1:{self.tls_port} ssl;
            ssl_certificate {work}/certs/leaf.pem;
            ssl_certificate_key {work}/certs/leaf.key;
            ssl_protocols TLSv1.2 TLSv1.3;
            ssl_conf_command Ciphersuites TLS_AES_128_GCM_SHA256;
            root {work};
            default_type text/plain;
            location /unsent/ {{ alias {work}/; sendfile off; }}
            location /sse {{ default_type text/event-stream; {stream} }}
            location /upload {{
                default_type application/json;
                echo_read_request_body;
                echo -n '{{"ok":true}}';
            }}
            {proxy}
        }}
    }}
""")
        super().__init__(name, ["nginx", "-e", f"{work}/{name}.log", "-p", work, "-c", conf],
                         core, work)
        try:
            wait_for(name, lambda: answers(self.port), self.process)
        except Broken:
            self.stop()
            raise
