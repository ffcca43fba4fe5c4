// undici, the client under Node's fetch: TLS and plain HTTP, both through CONNECT.
import { report } from "./through.mjs";

async function ask(url, options) {
  const response = await fetch(url, options);
  return {
    status: response.status,
    type: response.headers.get("content-type"),
    body: await response.text(),
  };
}

const results = [];
for (const path of ["/json", "/gzip", "/stream", "/count", "/count", "/missing"])
  results.push(await ask(`https://web.test${path}`));
results.push(
  await ask("https://web.test/echo", {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ text: "grüße", list: [1, 2.5, null] }),
  }),
);
results.push(await ask("http://web.test/json?way=plain"));
report(results);
