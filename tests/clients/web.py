"""web.py LIBRARY - the same eight requests with requests, httpx, aiohttp or urllib.

Proxy and trust come from the environment alone. Prints what came back as JSON. Exits 77
when the library is not installed.
"""
import asyncio
import gzip
import json
import sys
import urllib.error
import urllib.request

DOCUMENT = {"text": "grüße", "list": [1, 2.5, None]}
GETS = [f"https://web.test{path}" for path in
        ("/json", "/gzip", "/stream", "/count", "/count", "/missing")]
POST = "https://web.test/echo"
PLAIN = "http://web.test/json?way=plain"


def seen(status, content_type, body):
    return {"status": status, "type": content_type, "body": body}


def with_requests():
    import requests
    session = requests.Session()
    answers = []
    for url in GETS:
        with session.get(url, stream=True) as r:
            body = b"".join(r.iter_content(16)).decode()
            answers.append(seen(r.status_code, r.headers["content-type"], body))
    for r in (session.post(POST, json=DOCUMENT), session.get(PLAIN)):
        answers.append(seen(r.status_code, r.headers["content-type"], r.text))
    return answers


def with_httpx():
    import httpx
    answers = []
    with httpx.Client() as client:
        for url in GETS:
            with client.stream("GET", url) as r:
                body = "".join(r.iter_text())
                answers.append(seen(r.status_code, r.headers["content-type"], body))
        for r in (client.post(POST, json=DOCUMENT), client.get(PLAIN)):
            answers.append(seen(r.status_code, r.headers["content-type"], r.text))
    return answers


def with_aiohttp():
    import aiohttp

    async def run():
        answers = []

        async def keep(request):
            async with request as r:
                body = b"".join([piece async for piece in r.content.iter_any()]).decode()
                answers.append(seen(r.status, r.headers["content-type"], body))

        async with aiohttp.ClientSession(trust_env=True) as session:
            for url in GETS:
                await keep(session.get(url))
            await keep(session.post(POST, json=DOCUMENT))
            await keep(session.get(PLAIN))
        return answers
    return asyncio.run(run())


def with_urllib():
    post = urllib.request.Request(POST, json.dumps(DOCUMENT).encode(),
                                  {"Content-Type": "application/json"})
    answers = []
    for request in (*GETS, post, PLAIN):
        try:
            r = urllib.request.urlopen(request)
        except urllib.error.HTTPError as error:
            r = error
        body = r.read()
        if r.headers.get("content-encoding") == "gzip":  # urllib leaves this to its caller
            body = gzip.decompress(body)
        answers.append(seen(r.status, r.headers["content-type"], body.decode()))
    return answers


def main():
    try:
        answers = globals()[f"with_{sys.argv[1]}"]()
    except ModuleNotFoundError as error:
        print(error, file=sys.stderr)
        return 77
    json.dump(answers, sys.stdout, indent=1)
    return 0


sys.exit(main())
