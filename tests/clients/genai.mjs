// The Gemini client: generateContent, whole and streamed, with a function call.
import { collect, report } from "./through.mjs";
import { GoogleGenAI } from "@google/genai";

const client = new GoogleGenAI({ apiKey: process.env.CLIENT_KEY });
const model = "gemini-2.0-flash";
const parameters = { type: "OBJECT", properties: { city: { type: "STRING" } } };
const config = { tools: [{ functionDeclarations: [{ name: "get_weather", parameters }] }] };
const contents = [{ role: "user", parts: [{ text: "what is the weather in Oslo?" }] }];
const plain = ({ candidates, usageMetadata }) => ({ candidates, usageMetadata });

const whole = await client.models.generateContent({ model, contents: "hello there" });
const streamed = await collect(
  await client.models.generateContentStream({ model, contents: "hello there" }),
);
const call = await client.models.generateContent({ model, contents, config });
const streamedCall = await collect(
  await client.models.generateContentStream({ model, contents, config }),
);
contents.push(call.candidates[0].content, {
  role: "user",
  parts: [{ functionResponse: { name: "get_weather", response: { celsius: 4 } } }],
});
const answer = await client.models.generateContent({ model, contents, config });
report({
  whole: plain(whole),
  streamed: streamed.map(plain),
  call: plain(call),
  streamedCall: streamedCall.map(plain),
  answer: plain(answer),
});
