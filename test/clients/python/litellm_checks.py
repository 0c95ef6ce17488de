"""LiteLLM: completion, stream, tools, embeddings and the class of a full context window."""
import json

import litellm

from checks import KEY, ORIGIN, URL, check, equal, main

HELLO = [{"role": "user", "content": "How do tides work?"}]
OPENAI = {"model": "openai/sluice/chat", "api_base": URL, "api_key": KEY}
ANTHROPIC = {"model": "anthropic/sluice/chat", "api_base": ORIGIN, "api_key": KEY}
litellm.num_retries = 0


def for_each(name):
    def register(function):
        for label, settings in {"openai": OPENAI, "anthropic": ANTHROPIC}.items():
            check(f"{label}: {name}")(lambda settings=settings: function(settings))
        return function

    return register


@for_each("completion")
def completion(settings):
    answer = litellm.completion(messages=HELLO, **settings)
    assert answer.choices[0].message.content.startswith("You asked about tides"), answer
    assert answer.usage.completion_tokens > 0, answer.usage


@for_each("stream")
def stream(settings):
    whole = litellm.completion(messages=HELLO, **settings).choices[0].message.content
    chunks = list(litellm.completion(messages=HELLO, stream=True, **settings))
    equal("".join(chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices), whole)


@for_each("tools")
def tools(settings):
    parameters = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
    tools = [{"type": "function", "function": {"name": "get_weather", "parameters": parameters}}]
    messages = [{"role": "user", "content": "What is the weather in Paris?"}]
    first = litellm.completion(messages=messages, tools=tools, **settings).choices[0]
    equal(first.finish_reason, "tool_calls")
    [call] = first.message.tool_calls
    equal(json.loads(call.function.arguments), {"city": "Paris"})
    messages += [first.message, {"role": "tool", "tool_call_id": call.id, "content": "18 degrees"}]
    second = litellm.completion(messages=messages, tools=tools, **settings).choices[0]
    assert "18 degrees" in second.message.content, second


@for_each("a full context window has its class")
def overflow(settings):
    small = {**settings, "model": settings["model"].replace("/chat", "/chat-small")}
    try:
        litellm.completion(messages=[{"role": "user", "content": "tide " * 6000}], **small)
    except litellm.ContextWindowExceededError:
        return
    raise AssertionError("no error")


@check("openai: a wrong key has its class")
def wrong_key():
    try:
        litellm.completion(messages=HELLO, **{**OPENAI, "api_key": "sk-wrong"})
    except litellm.AuthenticationError:
        return
    raise AssertionError("no error")


@check("embeddings")
def embeddings():
    found = litellm.embedding(model="openai/sluice/embed", input=["tide", "ebb"], api_base=URL, api_key=KEY)
    equal([len(item["embedding"]) for item in found.data], [384, 384])


@check("text completion")
def text_completion():
    answer = litellm.text_completion(
        model="text-completion-openai/sluice/chat", prompt="How do tides work?", max_tokens=5, api_base=URL, api_key=KEY
    )
    equal(answer.choices[0].finish_reason, "length")


main()
