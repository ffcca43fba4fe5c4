"""A small agent, as anybody might write one: no SDK, and no word about retape.

    agent.py [QUESTION...]

Asks a chat model over HTTPS, runs the tool the model calls (a weather service on another
HTTPS host), lets the model put the result into words, and ends with a streamed summary.
Prints the transcript. Proxy and trust come from the environment (HTTPS_PROXY,
SSL_CERT_FILE), as for any program that uses urllib.
"""
import json
import os
import sys
import urllib.error
import urllib.parse
import urllib.request

MODEL_URL = "https://api.llm.example/v1/chat/completions"
TOOL_URL = "https://weather.example/weather"
KEY = os.environ.get("LLM_API_KEY", "sk-demo-0123456789abcdef0123456789abcdef")
TOOLS = [{"type": "function", "function": {
    "name": "get_weather", "description": "The weather in a city",
    "parameters": {"type": "object", "properties": {"city": {"type": "string"}}}}}]


def model(messages, stream=False):
    document = {"model": "demo-1", "messages": messages, "tools": TOOLS}
    if stream:
        document["stream"] = True
    request = urllib.request.Request(
        MODEL_URL, json.dumps(document).encode(),
        {"Content-Type": "application/json", "Authorization": f"Bearer {KEY}"})
    return urllib.request.urlopen(request)


def get_weather(city):
    url = TOOL_URL + "?" + urllib.parse.urlencode({"city": city})
    with urllib.request.urlopen(url) as answer:
        return answer.read().decode()


def turn(messages, question):
    """One question, with as many tool calls as the model wants."""
    messages.append({"role": "user", "content": question})
    print(f"user:      {question}")
    while True:
        with model(messages) as answer:
            message = json.load(answer)["choices"][0]["message"]
        messages.append(message)
        for call in message.get("tool_calls") or []:
            arguments = json.loads(call["function"]["arguments"])
            result = get_weather(**arguments)
            print(f"tool:      get_weather({arguments['city']}) -> {result}")
            messages.append({"role": "tool", "tool_call_id": call["id"], "content": result})
        if not message.get("tool_calls"):
            print(f"assistant: {message['content']}")
            return


def farewell(messages):
    messages.append({"role": "user", "content": "Sum it up for me."})
    print("user:      Sum it up for me.")
    print("assistant: ", end="")
    with model(messages, stream=True) as answer:
        for line in answer:
            if line.startswith(b"data: {"):
                delta = json.loads(line[6:])["choices"][0]["delta"]
                print(delta.get("content", ""), end="", flush=True)
    print()


def main():
    messages = [{"role": "system", "content": "You are a helpful travel assistant."}]
    for question in sys.argv[1:] or ["What is the weather in Bern?",
                                     "And the weather in Lisbon?"]:
        turn(messages, question)
    farewell(messages)


try:
    main()
except urllib.error.HTTPError as e:
    document = json.load(e)
    sys.exit(f"agent: the provider said {e.code}: {document['error']['message']}")
