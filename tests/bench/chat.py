"""A long conversation through the recorder: each request repeats all that was said."""
import http.client
import http.server
import json
import random
import threading

from make_cassette import words
from servers import Broken

TEXT_BYTES = 512  # of the user and of the assistant: 1 KB new text a turn


class Answer(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        asked = self.rfile.read(int(self.headers["Content-Length"]))
        rng = random.Random(len(asked))
        body = json.dumps({
            "id": f"chatcmpl-{len(asked)}", "object": "chat.completion", "model": "bench-1",
            "choices": [{"index": 0, "finish_reason": "stop", "message": {
                "role": "assistant", "content": words(rng, TEXT_BYTES)}}],
            "usage": {"prompt_tokens": 1, "completion_tokens": 1}}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


class Origin:
    def __enter__(self):
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Answer)
        self.port = self.server.server_address[1]
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()


def converse(proxy, origin, turns):
    """Record one session; gives the bytes of bodies that were new on the wire."""
    rng = random.Random(turns)
    messages = [{"role": "system", "content": "You are a benchmark."}]
    connection = http.client.HTTPConnection("127.0.0.1", proxy, timeout=60)
    new = repeated = 0
    for turn in range(turns):
        messages.append({"role": "user", "content": f"{turn} {words(rng, TEXT_BYTES)}"})
        asked = json.dumps({"model": "bench-1", "messages": messages})
        connection.request(
            "POST", f"/to/http/127.0.0.1:{origin}/v1/chat/completions", asked,
            {"Content-Type": "application/json", "X-Retape-Session": f"chat-{turns}"})
        response = connection.getresponse()
        answer = response.read()
        if response.status != 200:
            raise Broken(f"turn {turn}: {response.status} {answer[:300]!r}")
        new += len(asked) - repeated + len(answer)
        messages.append(json.loads(answer)["choices"][0]["message"])
        repeated = len(asked)
    connection.close()
    return new
