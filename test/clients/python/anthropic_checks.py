"""Anthropic SDK: messages, stream, thinking, tools, tool runner, structured output, token counts, models, errors."""
from anthropic import Anthropic, AuthenticationError, BadRequestError, NotFoundError, beta_tool
from pydantic import BaseModel

from checks import KEY, ORIGIN, check, equal, main

client = Anthropic(base_url=ORIGIN, api_key=KEY, max_retries=0, timeout=30)
HELLO = [{"role": "user", "content": "How do tides work?"}]
WEATHER = [{"role": "user", "content": "What is the weather in Paris?"}]
TOOL = {
    "name": "get_weather",
    "description": "Weather of a city",
    "input_schema": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
}


@check("messages")
def messages():
    message = client.messages.create(model="sluice/chat", max_tokens=200, messages=HELLO, system="Be brief.")
    equal((message.type, message.role, message.stop_reason), ("message", "assistant", "end_turn"))
    assert message.content[0].text.startswith("You asked about tides"), message.content
    assert message.usage.input_tokens > 0 and message.usage.output_tokens > 0


@check("a reasoning model without thinking")
def no_thinking():
    message = client.messages.create(model="sluice/reasoner", max_tokens=200, messages=HELLO)
    equal([block.type for block in message.content], ["text"])


@check("stream")
def stream():
    with client.messages.stream(model="sluice/chat", max_tokens=200, messages=HELLO) as stream:
        pieces = list(stream.text_stream)
        final = stream.get_final_message()
    assert len(pieces) > 5, pieces
    equal("".join(pieces), final.content[0].text)
    equal(final.stop_reason, "end_turn")


@check("thinking, shown and sent back")
def thinking():
    budget = {"type": "enabled", "budget_tokens": 1024}
    with client.messages.stream(model="sluice/reasoner", max_tokens=4096, thinking=budget, messages=HELLO) as stream:
        first = stream.get_final_message()
    equal([block.type for block in first.content], ["thinking", "text"])
    assert first.content[0].thinking and first.content[0].signature
    turns = [*HELLO, {"role": "assistant", "content": first.content}, {"role": "user", "content": "And ebb?"}]
    second = client.messages.create(model="sluice/reasoner", max_tokens=4096, thinking=budget, messages=turns)
    equal(second.stop_reason, "end_turn")


@check("tools loop")
def tools():
    first = client.messages.create(model="sluice/chat", max_tokens=200, messages=WEATHER, tools=[TOOL])
    equal(first.stop_reason, "tool_use")
    call = first.content[-1]
    equal((call.name, call.input), ("get_weather", {"city": "Paris"}))
    result = {"type": "tool_result", "tool_use_id": call.id, "content": "18 degrees"}
    turns = [*WEATHER, {"role": "assistant", "content": first.content}, {"role": "user", "content": [result]}]
    second = client.messages.create(model="sluice/chat", max_tokens=200, messages=turns, tools=[TOOL])
    equal(second.stop_reason, "end_turn")
    assert "18 degrees" in second.content[0].text, second.content


def run_tools(**options):
    """The second answer echoes the question: it shows that the whole conversation was sent with the tool result."""
    asked = []
    question = "/sim tool=get_weather echo\nSay what you know of Paris."

    @beta_tool
    def get_weather(city: str) -> str:
        """Weather of a city.

        Args:
            city: Its name.
        """
        asked.append(city)
        return "18 degrees"

    runner = client.beta.messages.tool_runner(
        model="sluice/chat",
        max_tokens=200,
        messages=[{"role": "user", "content": question}],
        tools=[get_weather],
        **options,
    )
    final = runner.until_done()
    equal(asked, ["Paris"])
    equal(final.content[0].text, "Say what you know of Paris.")


@check("tool runner")
def tool_runner():
    run_tools()


@check("tool runner without threads")
def tool_runner_without_threads():
    run_tools(thread=False)


@check("structured output")
def parse():
    class Trip(BaseModel):
        city: str
        days: int

    message = client.messages.parse(
        model="sluice/chat",
        max_tokens=200,
        messages=[{"role": "user", "content": "Plan a trip to Rome for 5 days"}],
        output_format=Trip,
    )
    equal((message.parsed_output.city, message.parsed_output.days), ("Rome", 5))


@check("count_tokens")
def count_tokens():
    counted = client.messages.count_tokens(model="sluice/chat", messages=HELLO, tools=[TOOL])
    message = client.messages.create(model="sluice/chat", max_tokens=1, messages=HELLO, tools=[TOOL])
    equal(counted.input_tokens, message.usage.input_tokens)


@check("a document")
def document():
    block = {"type": "document", "source": {"type": "text", "media_type": "text/plain", "data": "The gate opens at noon."}}
    content = [block, {"type": "text", "text": "/sim echo\nWhat does it say?"}]
    message = client.messages.create(model="sluice/chat", max_tokens=200, messages=[{"role": "user", "content": content}])
    assert "The gate opens at noon." in message.content[0].text, message.content


@check("models")
def models():
    assert "sluice/chat" in [model.id for model in client.models.list()]


def failure(kind, call):
    try:
        call()
    except kind as error:
        return error
    raise AssertionError(f"no {kind.__name__}")


@check("a wrong key has its class, and is not retried")
def wrong_key():
    wrong = Anthropic(base_url=ORIGIN, api_key="sk-wrong", max_retries=0)
    error = failure(
        AuthenticationError, lambda: wrong.messages.create(model="sluice/chat", max_tokens=5, messages=HELLO)
    )
    equal(error.response.headers.get("x-should-retry"), "false")


@check("an unknown model has its class")
def unknown_model():
    failure(NotFoundError, lambda: client.messages.create(model="none/such", max_tokens=5, messages=HELLO))


@check("a full context window is recognised")
def overflow():
    long = [{"role": "user", "content": "tide " * 6000}]
    full = failure(
        BadRequestError, lambda: client.messages.create(model="sluice/chat-small", max_tokens=5, messages=long)
    )
    assert "prompt is too long: " in str(full), full


main()
