// upstream.mjs CERT KEY READY_FILE - the model providers: aimock behind one HTTPS port.
// Writes the port to READY_FILE. Ids and times differ with every answer, so that only a
// recording can give the same one twice.
import { readFileSync, renameSync, writeFileSync } from "node:fs";
import http from "node:http";
import https from "node:https";
import { LLMock } from "@copilotkit/aimock";

const [cert, key, ready] = process.argv.slice(2);
const mock = new LLMock({ port: 0, chunkSize: 7, logLevel: "silent" });
mock.addFixturesFromJSON([
  { match: { hasToolResult: true }, response: { content: "It is 4 degrees in Oslo." } },
  {
    match: { userMessage: "weather" },
    response: { toolCalls: [{ name: "get_weather", arguments: '{"city":"Oslo"}' }] },
  },
  {
    match: { userMessage: "hello" },
    response: { content: "Good day to you, traveller. “Snowy” outside, isn't it? 🌨" },
  },
]);
await mock.start();

const front = https.createServer(
  { cert: readFileSync(cert), key: readFileSync(key) },
  (asked, answer) => {
    const { method, url: path, headers } = asked;
    const target = { host: "127.0.0.1", port: mock.port, method, path, headers };
    const inner = http.request(target, (got) => {
      answer.writeHead(got.statusCode, got.headers);
      got.pipe(answer);
    });
    inner.on("error", () => answer.destroy());
    asked.pipe(inner);
  },
);
front.listen(0, "127.0.0.1", () => {
  writeFileSync(`${ready}.new`, `${front.address().port}\n`);
  renameSync(`${ready}.new`, ready);
});
