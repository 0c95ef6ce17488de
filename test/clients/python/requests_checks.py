"""requests: every event is seen when it is sent, on every streaming route."""
import json
import time

import requests

from checks import KEY, URL, check, equal, main

HEADERS = {"Authorization": f"Bearer {KEY}"}


def lines_with_times(path, body, headers=HEADERS):
    begun = time.monotonic()
    seen = []
    with requests.post(f"{URL}{path}", headers=headers, json=body, stream=True, timeout=30) as response:
        assert response.status_code == 200, response.text
        for line in response.iter_lines(chunk_size=None):
            if line.startswith(b"data: "):
                seen.append((time.monotonic() - begun, line[6:].decode()))
    return seen


def is_on_time(seen, text_of):
    """One token every 0.5 s: the first at once, none with the next."""
    times = [at for at, data in seen if data != "[DONE]" and text_of(json.loads(data))]
    equal(len(times), 4)
    for index, at in enumerate(times):
        late = at - index * 0.5
        assert late < 0.2, f"token {index} was seen {late:.2f} s late: {[round(one, 2) for one in times]}"


PROMPT = "/sim rate=2/s tokens=4\nHello"


@check("chat stream: every event on time")
def chat_stream():
    body = {"model": "sluice/chat", "stream": True, "messages": [{"role": "user", "content": PROMPT}]}
    seen = lines_with_times("/chat/completions", body)
    equal(seen[-1][1], "[DONE]")
    is_on_time(seen, lambda event: event["choices"] and event["choices"][0]["delta"].get("content"))


@check("messages stream: every event on time")
def messages_stream():
    body = {"model": "sluice/chat", "stream": True, "max_tokens": 50, "messages": [{"role": "user", "content": PROMPT}]}
    seen = lines_with_times("/messages", body, {"x-api-key": KEY, "anthropic-version": "2023-06-01"})
    is_on_time(seen, lambda event: event["type"] == "content_block_delta" and event["delta"]["text"])


@check("responses stream: every event on time")
def responses_stream():
    body = {"model": "sluice/chat", "stream": True, "input": PROMPT}
    is_on_time(lines_with_times("/responses", body), lambda event: event["type"] == "response.output_text.delta")


@check("speech: bytes arrive before the end")
def speech():
    body = {"model": "sluice/speech", "voice": "ada", "input": "The gates are open. " * 20, "response_format": "pcm"}
    with requests.post(f"{URL}/audio/speech", headers=HEADERS, json=body, stream=True, timeout=30) as response:
        assert response.status_code == 200, response.text
        pieces = [len(piece) for piece in response.iter_content(chunk_size=None)]
    assert len(pieces) > 1 and sum(pieces) > 100_000, pieces


@check("errors: a body with a message")
def error():
    response = requests.post(f"{URL}/chat/completions", headers=HEADERS, json={"model": "none/such"}, timeout=30)
    assert response.status_code in (400, 404), response.status_code
    assert response.json()["error"]["message"], response.text


main()
