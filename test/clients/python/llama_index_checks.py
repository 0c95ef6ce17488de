"""LlamaIndex: completion, chat and streams of OpenAILike, and tools."""
from llama_index.core.llms import ChatMessage
from llama_index.core.tools import FunctionTool
from llama_index.llms.openai_like import OpenAILike

from checks import KEY, URL, check, equal, main


def model(**options):
    return OpenAILike(model="sluice/chat", api_base=URL, api_key=KEY, context_window=131072, max_retries=0, **options)


@check("complete, by completions")
def complete():
    answer = model(is_chat_model=False, max_tokens=5).complete("How do tides work?")
    equal(answer.raw.choices[0].finish_reason, "length")
    equal(answer.raw.object, "text_completion")


@check("stream of completions")
def stream_complete():
    last = list(model(is_chat_model=False, max_tokens=50).stream_complete("How do tides work?"))[-1]
    equal(last.text, model(is_chat_model=False, max_tokens=50).complete("How do tides work?").text)


@check("chat")
def chat():
    answer = model(is_chat_model=True).chat([ChatMessage(role="user", content="How do tides work?")])
    assert answer.message.content.startswith("You asked about tides"), answer


@check("stream of chat")
def stream_chat():
    chunks = list(model(is_chat_model=True).stream_chat([ChatMessage(role="user", content="How do tides work?")]))
    assert len(chunks) > 5
    assert chunks[-1].message.content.startswith("You asked about tides"), chunks[-1]


@check("tools")
def tools():
    def get_weather(city: str) -> str:
        """Weather of a city."""
        return f"18 degrees in {city}"

    caller = model(is_chat_model=True, is_function_calling_model=True)
    answer = caller.predict_and_call([FunctionTool.from_defaults(get_weather)], "What is the weather in Paris?")
    equal(answer.response, "18 degrees in Paris")


main()
