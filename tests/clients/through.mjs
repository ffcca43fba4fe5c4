// How a Node client reaches retape. Node's own fetch ignores HTTPS_PROXY (before 24), so
// by default every request goes through undici's dispatcher, which does not; with
// CLIENT_WAY=base-url the client only follows the base URL in its environment.
import { EnvHttpProxyAgent, install, setGlobalDispatcher } from "undici";

const byProxy = process.env.CLIENT_WAY !== "base-url";
const dispatcher = byProxy ? new EnvHttpProxyAgent() : undefined;

if (byProxy) {
  setGlobalDispatcher(dispatcher);
  install(); // fetch, Headers, Request... of the same undici as the dispatcher
}

// What the OpenAI and Anthropic clients take for a proxy, as their manuals say.
export const fetchOptions = byProxy ? { dispatcher } : {};

export async function collect(stream) {
  const events = [];
  for await (const event of stream) events.push(event);
  return events;
}

export function report(results) {
  console.log(JSON.stringify(results, null, 1));
}
