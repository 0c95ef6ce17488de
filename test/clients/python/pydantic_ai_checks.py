"""pydantic-ai: agents with a tool and a typed output, whole and streamed, with each of its models."""
import asyncio

from pydantic import BaseModel
from pydantic_ai import Agent
from pydantic_ai.models.anthropic import AnthropicModel
from pydantic_ai.models.openai import OpenAIChatModel, OpenAIResponsesModel
from pydantic_ai.models.openrouter import OpenRouterModel
from pydantic_ai.providers.anthropic import AnthropicProvider
from pydantic_ai.providers.openai import OpenAIProvider
from pydantic_ai.providers.openrouter import OpenRouterProvider

from checks import KEY, ORIGIN, URL, check, equal, main


class Report(BaseModel):
    city: str
    degrees: int


def openrouter():
    provider = OpenRouterProvider(api_key=KEY)
    provider.client.base_url = URL
    return OpenRouterModel("sluice/chat", provider=provider)


MODELS = {
    "openai": lambda: OpenAIChatModel("sluice/chat", provider=OpenAIProvider(base_url=URL, api_key=KEY)),
    "openai responses": lambda: OpenAIResponsesModel("sluice/chat", provider=OpenAIProvider(base_url=URL, api_key=KEY)),
    "anthropic": lambda: AnthropicModel("sluice/chat", provider=AnthropicProvider(base_url=ORIGIN, api_key=KEY)),
    "openrouter": openrouter,
}


def for_each(name):
    def register(function):
        for label, make in MODELS.items():
            check(f"{label}: {name}")(lambda make=make: function(make()))
        return function

    return register


@for_each("text")
def text(model):
    result = Agent(model).run_sync("How do tides work?")
    assert result.output.startswith("You asked about tides"), result.output
    assert result.usage().output_tokens > 0 if callable(result.usage) else result.usage.output_tokens > 0


@for_each("stream")
def stream(model):
    async def read():
        async with Agent(model).run_stream("How do tides work?") as result:
            return [piece async for piece in result.stream_text(delta=True, debounce_by=None)]

    pieces = asyncio.run(read())
    assert len(pieces) > 5 and "".join(pieces).startswith("You asked about tides"), pieces


@for_each("agent with a tool")
def tool(model):
    asked = []
    agent = Agent(model)

    @agent.tool_plain
    def get_weather(city: str) -> str:
        """Weather of a city."""
        asked.append(city)
        return "18 degrees"

    result = agent.run_sync("What is the weather in Paris?")
    equal(asked, ["Paris"])
    assert "18 degrees" in result.output, result.output


@for_each("typed output")
def typed(model):
    result = Agent(model, output_type=Report).run_sync("Report on Rome: 18 degrees")
    equal(result.output, Report(city="Rome", degrees=18))


main()
