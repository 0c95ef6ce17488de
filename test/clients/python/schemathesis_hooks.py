"""Prepares the OpenAPI document for schemathesis: models that exist, and events as the objects they are."""
import schemathesis

MODELS = {
    "/chat": ["sluice/chat", "sluice/reasoner", "sluice/vision"],
    "/completions": ["sluice/chat"],
    "/messages": ["sluice/chat", "sluice/reasoner"],
    "/responses": ["sluice/chat", "sluice/reasoner"],
    "/embeddings": ["sluice/embed", "sluice/embed-instruct"],
    "/images": ["sluice/image", "sluice/image-edit"],
    "/audio/speech": ["sluice/speech"],
    "/audio/transcriptions": ["sluice/transcribe"],
    "/systemone": ["sluice/decide"],
    "/rerank": ["sluice/rerank"],
    "/tokenize": ["sluice/chat"],
    "/detokenize": ["sluice/chat"],
    "/videos": ["sluice/video"],
    "/music": ["sluice/music"],
}


@schemathesis.hook
def before_load_schema(context, raw_schema):
    components = raw_schema["components"]["schemas"]
    for path, operations in raw_schema["paths"].items():
        for operation in operations.values():
            # It takes a header that is not documented for an error, once one is: HTTP ignores it.
            operation["parameters"] = [each for each in operation["parameters"] if each["in"] != "header"]
            for media in operation.get("requestBody", {}).get("content", {}).values():
                media["schema"] = with_messages(with_models(resolve(media["schema"], components), path))
            for response in operation["responses"].values():
                events = response.get("content", {}).get("text/event-stream")
                if events is not None:
                    events["schema"] = event_of(events["schema"])


@schemathesis.hook
def filter_case(context, case):
    """Leaves out integers that a JSON reader with doubles takes for a neighbour: one may be in bounds, the other not."""
    return is_exact(case.body)


def is_exact(value):
    if isinstance(value, dict):
        return all(is_exact(field) for field in value.values())
    if isinstance(value, list):
        return all(is_exact(item) for item in value)
    return not isinstance(value, int) or abs(value) < 2**53 or int(float(value)) == value


def resolve(schema, components):
    reference = schema.get("$ref")
    return schema if reference is None else components[reference.rsplit("/", 1)[1]]


def with_models(schema, path):
    """Otherwise nearly every generated request is for a model that does not exist."""
    models = next((models for start, models in MODELS.items() if path.startswith(start)), None)
    if models is None or "model" not in schema.get("properties", {}):
        return schema
    known = {"type": "string", "enum": models}
    model = known if "model" in schema.get("required", []) else {"anyOf": [known, {"type": "null"}]}
    return {**schema, "properties": {**schema["properties"], "model": model}}


PLAIN_MESSAGES = {
    "type": "array",
    "minItems": 1,
    "maxItems": 1,
    "items": {
        "type": "object",
        "required": ["role", "content"],
        "properties": {"role": {"const": "user"}, "content": {"type": "string", "minLength": 1, "maxLength": 20}},
        "additionalProperties": False,
    },
}

# They are valid only beside other fields, which is said in words: nearly every request would be refused for them.
DEPENDENT = {"top_logprobs", "tool_choice"}


def with_messages(schema):
    """Few generated messages make a conversation; a plain one is tried, too."""
    if "messages" not in schema.get("properties", {}):
        return schema
    kept = {name: field for name, field in schema["properties"].items() if name not in DEPENDENT}
    messages = {"anyOf": [PLAIN_MESSAGES, kept["messages"]]}
    return {**schema, "properties": {**kept, "messages": messages}}


def event_of(schema):
    """The document gives the schema of an event's data, which is JSON or the mark of the end."""
    payload = {"type": "string", "contentMediaType": "application/json", "contentSchema": schema}
    return {
        "type": "object",
        "required": ["data"],
        "if": {"properties": {"data": {"const": "[DONE]"}}},
        "else": {"properties": {"data": payload}},
    }
