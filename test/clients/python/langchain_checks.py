"""LangChain: chat, stream, tools, agent, structured output and a full context window, with both integrations."""
from langchain.agents import create_agent
from langchain_anthropic import ChatAnthropic
from langchain_core.exceptions import ContextOverflowError
from langchain_core.messages import HumanMessage, ToolMessage
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI, OpenAIEmbeddings
from pydantic import BaseModel

from checks import KEY, ORIGIN, URL, check, equal, main


@tool
def get_weather(city: str) -> str:
    """Weather of a city."""
    return f"18 degrees in {city}"


class Trip(BaseModel):
    """A trip."""

    city: str
    days: int


def openai(model="sluice/chat", **options):
    return ChatOpenAI(model=model, base_url=URL, api_key=KEY, max_retries=0, timeout=30, **options)


def anthropic(model="sluice/chat", **options):
    return ChatAnthropic(
        model=model, base_url=ORIGIN, api_key=KEY, max_retries=0, timeout=30, max_tokens=512, **options
    )


def over_responses(model="sluice/chat"):
    return openai(model, use_responses_api=True)


def for_each(name, makers):
    """One check for each way to reach the gateway."""

    def register(function):
        for label, make in makers.items():
            check(f"{label}: {name}")(lambda make=make: function(make))
        return function

    return register


ALL = {"openai": openai, "openai responses": over_responses, "anthropic": anthropic}


@for_each("chat", ALL)
def chat(make):
    message = make().invoke("How do tides work?")
    assert message.text.startswith("You asked about tides"), message
    assert message.usage_metadata["output_tokens"] > 0, message.usage_metadata


@for_each("stream", ALL)
def stream(make):
    chunks = list(make().stream("How do tides work?"))
    assert len(chunks) > 5, chunks
    equal("".join(chunk.text for chunk in chunks), make().invoke("How do tides work?").text)
    whole = chunks[0]
    for chunk in chunks[1:]:
        whole += chunk
    assert whole.usage_metadata["output_tokens"] > 0, whole


@for_each("tools", ALL)
def tools(make):
    model = make().bind_tools([get_weather])
    asked = HumanMessage("What is the weather in Paris?")
    called = model.invoke([asked])
    equal([(call["name"], call["args"]) for call in called.tool_calls], [("get_weather", {"city": "Paris"})])
    result = ToolMessage("18 degrees", tool_call_id=called.tool_calls[0]["id"])
    assert "18 degrees" in model.invoke([asked, called, result]).text


@for_each("agent", ALL)
def agent(make):
    result = create_agent(make(), [get_weather]).invoke(
        {"messages": [{"role": "user", "content": "What is the weather in Paris?"}]}
    )
    equal([message.type for message in result["messages"]], ["human", "ai", "tool", "ai"])
    assert "18 degrees in Paris" in result["messages"][-1].text, result["messages"][-1]


@for_each("structured output", ALL)
def structured(make):
    trip = make().with_structured_output(Trip).invoke("Plan a trip to Rome for 5 days")
    equal(trip, Trip(city="Rome", days=5))


@for_each("a full context window is recognised", ALL)
def overflow(make):
    try:
        make("sluice/chat-small").invoke("tide " * 6000)
    except ContextOverflowError:
        return
    raise AssertionError("no error")


@check("openai: embeddings")
def embeddings():
    model = OpenAIEmbeddings(model="sluice/embed", base_url=URL, api_key=KEY, check_embedding_ctx_length=False)
    equal([len(vector) for vector in model.embed_documents(["tide", "ebb"])], [384, 384])


main()
