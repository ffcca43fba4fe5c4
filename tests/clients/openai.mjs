// The OpenAI client: chat and responses, whole and streamed, with a tool call.
import { collect, fetchOptions, report } from "./through.mjs";
import OpenAI from "openai";

const client = new OpenAI({ apiKey: process.env.CLIENT_KEY, fetchOptions, maxRetries: 0 });
const model = "gpt-4o-mini";
const parameters = { type: "object", properties: { city: { type: "string" } } };
const tools = [{ type: "function", function: { name: "get_weather", parameters } }];
const hello = [{ role: "user", content: "hello there" }];
const messages = [{ role: "user", content: "what is the weather in Oslo?" }];

const whole = await client.chat.completions.create({ model, messages: hello });
const streamed = await collect(
  await client.chat.completions.create({ model, messages: hello, stream: true }),
);
const call = await client.chat.completions.create({ model, messages, tools });
const streamedCall = await collect(
  await client.chat.completions.create({ model, messages, tools, stream: true }),
);
const asked = call.choices[0].message;
messages.push(asked, {
  role: "tool",
  tool_call_id: asked.tool_calls[0].id,
  content: '{"celsius":4}',
});
const answer = await client.chat.completions.create({ model, messages, tools });
const response = await client.responses.create({ model, input: "hello there" });
const events = await collect(
  await client.responses.create({ model, input: "hello there", stream: true }),
);
report({ whole, streamed, call, streamedCall, answer, response, events });
