// The Anthropic client: messages, whole and streamed, with a tool call.
import { collect, fetchOptions, report } from "./through.mjs";
import Anthropic from "@anthropic-ai/sdk";

const client = new Anthropic({ apiKey: process.env.CLIENT_KEY, fetchOptions, maxRetries: 0 });
const common = { model: "claude-test-1", max_tokens: 200 };
const input_schema = { type: "object", properties: { city: { type: "string" } } };
const tools = [{ name: "get_weather", input_schema }];
const hello = [{ role: "user", content: "hello there" }];
const messages = [{ role: "user", content: "what is the weather in Oslo?" }];

const whole = await client.messages.create({ ...common, messages: hello });
const streamed = await collect(
  await client.messages.create({ ...common, messages: hello, stream: true }),
);
const call = await client.messages.create({ ...common, messages, tools });
const helper = client.messages.stream({ ...common, messages, tools });
const streamedCall = await helper.finalMessage();
const use = call.content.find((block) => block.type === "tool_use");
messages.push(
  { role: "assistant", content: call.content },
  {
    role: "user",
    content: [{ type: "tool_result", tool_use_id: use.id, content: '{"celsius":4}' }],
  },
);
const answer = await client.messages.create({ ...common, messages, tools });
report({ whole, streamed, call, streamedCall, answer });
