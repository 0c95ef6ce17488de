"""OpenAI SDK: chat, responses, completions, tools, structured output, embeddings, images, audio, models, errors."""
import base64
import json
import struct

from openai import APIError, APIStatusError, AuthenticationError, BadRequestError, NotFoundError, OpenAI
from pydantic import BaseModel

from checks import KEY, URL, check, equal, main

client = OpenAI(base_url=URL, api_key=KEY, max_retries=0, timeout=30)
HELLO = [{"role": "user", "content": "How do tides work?"}]
WEATHER = [{"role": "user", "content": "What is the weather in Paris?"}]
PARAMETERS = {
    "type": "object",
    "properties": {"city": {"type": "string"}},
    "required": ["city"],
    "additionalProperties": False,
}


class Trip(BaseModel):
    city: str
    days: int
    stops: list[str]


@check("chat")
def chat():
    completion = client.chat.completions.create(model="sluice/chat", messages=HELLO)
    equal(completion.object, "chat.completion")
    equal(completion.model, "sluice/chat")
    choice = completion.choices[0]
    equal((choice.finish_reason, choice.message.role), ("stop", "assistant"))
    assert choice.message.content.startswith("You asked about tides"), choice.message.content
    usage = completion.usage
    assert usage.prompt_tokens > 0 and usage.completion_tokens > 0
    equal(usage.total_tokens, usage.prompt_tokens + usage.completion_tokens)


@check("chat stream")
def chat_stream():
    whole = client.chat.completions.create(model="sluice/chat", messages=HELLO)
    with client.chat.completions.stream(
        model="sluice/chat", messages=HELLO, stream_options={"include_usage": True}
    ) as stream:
        pieces = [event.delta for event in stream if event.type == "content.delta"]
        final = stream.get_final_completion()
    equal("".join(pieces), whole.choices[0].message.content)
    assert len(pieces) > 5, pieces
    equal(final.usage.completion_tokens, whole.usage.completion_tokens)
    equal(final.choices[0].finish_reason, "stop")


@check("chat tools loop")
def chat_tools():
    tools = [{"type": "function", "function": {"name": "get_weather", "parameters": PARAMETERS, "strict": True}}]
    messages = list(WEATHER)
    first = client.chat.completions.create(model="sluice/chat", messages=messages, tools=tools).choices[0]
    equal(first.finish_reason, "tool_calls")
    [call] = first.message.tool_calls
    equal((call.function.name, json.loads(call.function.arguments)), ("get_weather", {"city": "Paris"}))
    messages += [first.message, {"role": "tool", "tool_call_id": call.id, "content": "18 degrees and sunny"}]
    second = client.chat.completions.create(model="sluice/chat", messages=messages, tools=tools).choices[0]
    equal(second.finish_reason, "stop")
    assert "18 degrees and sunny" in second.message.content, second.message.content


@check("chat structured output")
def chat_parse():
    completion = client.chat.completions.parse(
        model="sluice/chat",
        messages=[{"role": "user", "content": "Plan a trip to Rome for 5 days"}],
        response_format=Trip,
    )
    trip = completion.choices[0].message.parsed
    equal((trip.city, trip.days), ("Rome", 5))


@check("responses")
def responses():
    response = client.responses.create(model="sluice/chat", input="How do tides work?", instructions="Be brief.")
    equal((response.object, response.status), ("response", "completed"))
    assert response.output_text.startswith("You asked about tides"), response.output_text
    assert response.usage.output_tokens > 0


@check("responses stream")
def responses_stream():
    with client.responses.stream(model="sluice/reasoner", input="How do tides work?") as stream:
        events = list(stream)
        final = stream.get_final_response()
    text = "".join(event.delta for event in events if event.type == "response.output_text.delta")
    equal(text, final.output_text)
    equal([events[0].type, events[-1].type], ["response.created", "response.completed"])
    equal([event.sequence_number for event in events], list(range(len(events))))
    equal([item.type for item in final.output], ["reasoning", "message"])


@check("responses tools loop")
def responses_tools():
    tools = [{"type": "function", "name": "get_weather", "parameters": PARAMETERS, "strict": True}]
    first = client.responses.create(model="sluice/chat", input=WEATHER, tools=tools, store=False)
    [call] = [item for item in first.output if item.type == "function_call"]
    equal(json.loads(call.arguments), {"city": "Paris"})
    items = [*WEATHER, *first.output]
    items.append({"type": "function_call_output", "call_id": call.call_id, "output": "18 degrees"})
    second = client.responses.create(model="sluice/chat", input=items, tools=tools, store=False)
    assert "18 degrees" in second.output_text, second.output_text


@check("responses structured output")
def responses_parse():
    response = client.responses.parse(
        model="sluice/chat", input="Plan a trip to Rome for 5 days", text_format=Trip
    )
    equal((response.output_parsed.city, response.output_parsed.days), ("Rome", 5))


@check("completions")
def completions():
    completion = client.completions.create(model="sluice/chat", prompt="How do tides work?", max_tokens=5)
    equal((completion.object, len(completion.choices)), ("text_completion", 1))
    equal(completion.choices[0].finish_reason, "length")
    equal(completion.usage.completion_tokens, 5)
    both = client.completions.create(model="sluice/chat", prompt=["One", "Two"], max_tokens=5)
    equal([choice.index for choice in both.choices], [0, 1])


@check("completions stream")
def completions_stream():
    whole = client.completions.create(model="sluice/chat", prompt="How do tides work?", max_tokens=50)
    chunks = list(client.completions.create(model="sluice/chat", prompt="How do tides work?", max_tokens=50, stream=True))
    equal("".join(chunk.choices[0].text for chunk in chunks if chunk.choices), whole.choices[0].text)


@check("embeddings")
def embeddings():
    found = client.embeddings.create(model="sluice/embed", input=["tide", "ebb"])
    equal([len(item.embedding) for item in found.data], [384, 384])
    raw = client.embeddings.create(model="sluice/embed", input="tide", encoding_format="base64").data[0].embedding
    numbers = struct.unpack("<384f", base64.b64decode(raw))
    assert all(abs(one - other) < 1e-6 for one, other in zip(numbers, found.data[0].embedding)), "they differ"


@check("images")
def images():
    result = client.images.generate(model="sluice/image", prompt="A sluice gate", size="1024x1024", response_format="b64_json")
    png = base64.b64decode(result.data[0].b64_json)
    equal(png[:8], b"\x89PNG\r\n\x1a\n")


@check("speech and transcription")
def audio():
    with client.audio.speech.with_streaming_response.create(
        model="sluice/speech", voice="ada", input="The gates are open.", response_format="wav"
    ) as response:
        wav = b"".join(response.iter_bytes())
    equal(wav[:4], b"RIFF")
    heard = client.audio.transcriptions.create(model="sluice/transcribe", file=("gates.wav", wav))
    equal(heard.text, "The gates are open.")


@check("models")
def models():
    ids = [model.id for model in client.models.list()]
    assert {"sluice/chat", "sluice/embed", "sluice/image"} <= set(ids), ids
    equal(client.models.retrieve("sluice/chat").id, "sluice/chat")


def failure(kind, call):
    try:
        call()
    except kind as error:
        return error
    raise AssertionError(f"no {kind.__name__}")


@check("a wrong key has its class")
def wrong_key():
    wrong = OpenAI(base_url=URL, api_key="sk-wrong", max_retries=0)
    failure(AuthenticationError, lambda: wrong.chat.completions.create(model="sluice/chat", messages=HELLO))


@check("bad input: its class and the field")
def bad_input():
    failure(NotFoundError, lambda: client.chat.completions.create(model="none/such", messages=HELLO))
    bad = failure(
        BadRequestError, lambda: client.chat.completions.create(model="sluice/chat", messages=HELLO, temperature=9)
    )
    assert "temperature" in bad.message, bad.message
    equal(bad.param, "temperature")


@check("a full context window has its code")
def overflow():
    long = "tide " * 6000
    full = failure(
        BadRequestError,
        lambda: client.chat.completions.create(
            model="sluice/chat-small", messages=[{"role": "user", "content": long}]
        ),
    )
    equal(full.body["metadata"]["code"], "context_length_exceeded")
    full = failure(BadRequestError, lambda: client.responses.create(model="sluice/chat-small", input=long))
    equal(full.body["metadata"]["code"], "context_length_exceeded")


@check("an engine that fails")
def engine_failure():
    messages = [{"role": "user", "content": "/sim fail=503"}]
    busy = failure(APIStatusError, lambda: client.chat.completions.create(model="sluice/chat", messages=messages))
    equal(busy.status_code, 503)
    messages = [{"role": "user", "content": "/sim tokens=9 fail=503@3"}]
    stream = client.chat.completions.create(model="sluice/chat", messages=messages, stream=True)
    cut = failure(APIError, lambda: list(stream))
    assert "503" in cut.message, cut.message


main()
