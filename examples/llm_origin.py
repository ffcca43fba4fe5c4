"""An LLM provider and a weather service in one small HTTPS server, for the demo.

    llm_origin.py --cert PEM --key PEM --ready FILE [--hits FILE]

Speaks OpenAI chat completions, whole and streamed: asked about the weather it calls the
tool `get_weather`, given the tool's answer it puts it into words. The same question
always gets the same answer. GET /weather?city=NAME is the tool. Listens on a free port
of 127.0.0.1, writes it to the ready file, and counts what it was asked in the hits file.
"""
import argparse
import json
import os
import re
import ssl
import zlib
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit


def usage(messages, answer):
    asked = sum(len(str(m.get("content") or "").split()) for m in messages)
    return {"prompt_tokens": asked, "completion_tokens": len(answer.split()),
            "total_tokens": asked + len(answer.split())}


def think(messages):
    """The assistant's next message: a tool call, or words."""
    last = messages[-1]
    if last["role"] == "tool":
        report = json.loads(last["content"])
        return {"role": "assistant",
                "content": f"In {report['city']} it is {report['sky']}, "
                           f"{report['celsius']} degrees. Take "
                           f"{'an umbrella' if report['sky'] == 'rainy' else 'sunglasses'}."}
    city = re.search(r"weather in (\w+)", last["content"])
    if city:
        arguments = json.dumps({"city": city.group(1)})
        call = {"id": f"call_{zlib.crc32(arguments.encode()):08x}", "type": "function",
                "function": {"name": "get_weather", "arguments": arguments}}
        return {"role": "assistant", "content": None, "tool_calls": [call]}
    cities = [m.get("content") or "" for m in messages if m["role"] == "tool"]
    names = " and ".join(json.loads(c)["city"] for c in cities) or "nothing yet"
    return {"role": "assistant", "content": f"So far we talked about {names}. "
                                            "Have a good journey, and write when you arrive!"}


def weather(city):
    number = zlib.crc32(city.encode())
    return {"city": city, "celsius": number % 30, "sky": ("sunny", "rainy")[number // 30 % 2]}


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    hits = None

    def log_message(self, *_):
        if self.hits:
            with open(self.hits, "a") as f:
                f.write(f"{self.requestline}\n")

    def whole(self, document):
        body = json.dumps(document).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def streamed(self, ident, model, message):
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        words = re.findall(r"\S+\s*", message["content"] or "")
        for delta in [{"role": "assistant"}, *({"content": w} for w in words), {}]:
            chunk = {"id": ident, "object": "chat.completion.chunk", "model": model,
                     "choices": [{"index": 0, "delta": delta,
                                  "finish_reason": None if delta else "stop"}]}
            self.chunk(f"data: {json.dumps(chunk)}\n\n")
        self.chunk("data: [DONE]\n\n")
        self.chunk("")

    def chunk(self, text):
        data = text.encode()
        self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))
        self.wfile.flush()

    def do_GET(self):
        url = urlsplit(self.path)
        if url.path != "/weather":
            return self.send_error(404)
        self.whole(weather(parse_qs(url.query)["city"][0]))

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        if self.path != "/v1/chat/completions":
            return self.send_error(404)
        request = json.loads(body)
        message = think(request["messages"])
        ident = f"chatcmpl-{zlib.crc32(body):08x}"
        if request.get("stream"):
            return self.streamed(ident, request["model"], message)
        reason = "tool_calls" if message.get("tool_calls") else "stop"
        self.whole({"id": ident, "object": "chat.completion", "model": request["model"],
                    "choices": [{"index": 0, "message": message, "finish_reason": reason}],
                    "usage": usage(request["messages"], message["content"] or "")})


def main():
    args = argparse.ArgumentParser()
    for name in ("--cert", "--key", "--ready"):
        args.add_argument(name, required=True)
    args.add_argument("--hits")
    args = args.parse_args()

    Handler.hits = args.hits
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(args.cert, args.key)
    # The handshake happens in the connection's own thread, with its first read.
    server.socket = context.wrap_socket(server.socket, server_side=True,
                                        do_handshake_on_connect=False)
    with open(args.ready + ".new", "w") as f:
        f.write(f"{server.server_address[1]}\n")
    os.rename(args.ready + ".new", args.ready)
    server.serve_forever()


main()
