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
    "/videos": ["sluice/video"],
    "/music": ["sluice/music"],
}


@schemathesis.hook
def before_load_schema(context, raw_schema):
    components = raw_schema["components"]["schemas"]
    for path, operations in raw_schema["paths"].items():
        for operation in operations.values():
            for media in operation.get("requestBody", {}).get("content", {}).values():
                media["schema"] = with_models(resolve(media["schema"], components), path)
            for response in operation["responses"].values():
                events = response.get("content", {}).get("text/event-stream")
                if events is not None:
                    events["schema"] = event_of(events["schema"])


def resolve(schema, components):
    reference = schema.get("$ref")
    return schema if reference is None else components[reference.rsplit("/", 1)[1]]


def with_models(schema, path):
    """Otherwise nearly every generated request is for a model that does not exist."""
    models = next((models for start, models in MODELS.items() if path.startswith(start)), None)
    if models is None or "model" not in schema.get("properties", {}):
        return schema
    return {**schema, "properties": {**schema["properties"], "model": {"type": "string", "enum": models}}}


def event_of(schema):
    """The document gives the schema of an event's data, which is JSON or the mark of the end."""
    payload = {"type": "string", "contentMediaType": "application/json", "contentSchema": schema}
    done = {"type": "string", "const": "[DONE]"}
    return {"type": "object", "required": ["data"], "properties": {"data": {"anyOf": [done, payload]}}}
