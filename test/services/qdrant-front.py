"""The REST interface of Qdrant, as far as its official client is used here, over its own local mode: port and data folder in."""
import json
import re
import sqlite3
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import unquote, urlsplit

from pydantic import BaseModel, ValidationError
from qdrant_client import models
from qdrant_client.local.qdrant_local import QdrantLocal

port, data_folder = int(sys.argv[1]), sys.argv[2]
connect = sqlite3.connect


def connect_quickly(*args, **settings):
    """Local mode commits point by point: what need not outlive the machine need not wait for the disk."""
    connection = connect(*args, **settings)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = OFF")
    return connection


sqlite3.connect = connect_quickly
engine = QdrantLocal(data_folder, force_disable_check_same_thread=True)
one_at_a_time = threading.Lock()


class Refusal(Exception):
    def __init__(self, status, words):
        super().__init__(words)
        self.status = status


def exists(name, _):
    return {"exists": engine.collection_exists(name)}


def create(name, body):
    wanted = models.CreateCollection.model_validate(body)
    if engine.collection_exists(name):
        raise Refusal(409, f"Wrong input: Collection `{name}` already exists!")
    return engine.create_collection(name, wanted.vectors)


def drop(name, _):
    return engine.delete_collection(name)


# Local mode orders by any field: the server refuses one without an index of numbers.
ordered_file = Path(data_folder, "ordered.json")
ordered = json.loads(ordered_file.read_text()) if ordered_file.exists() else {}


def index(name, body):
    wanted = models.CreateFieldIndex.model_validate(body)
    kind = getattr(wanted.field_schema, "type", wanted.field_schema)
    if str(kind.value) in ("integer", "float", "datetime"):
        ordered.setdefault(name, []).append(wanted.field_name)
        ordered_file.write_text(json.dumps(ordered))
    return engine.create_payload_index(name, wanted.field_name, wanted.field_schema)


def upsert(name, body):
    return engine.upsert(name, models.PointsList.model_validate(body).points)


def retrieve(name, body):
    wanted = models.PointRequest.model_validate(body)
    return engine.retrieve(name, wanted.ids, wanted.with_payload, wanted.with_vector or False)


def query(name, body):
    wanted = models.QueryRequest.model_validate(body)
    return engine.query_points(
        name, wanted.query, query_filter=wanted.filter, limit=wanted.limit, with_payload=wanted.with_payload
    )


def scroll(name, body):
    wanted = models.ScrollRequest.model_validate(body)
    if wanted.order_by is not None and wanted.order_by.key not in ordered.get(name, ()):
        raise Refusal(400, f"Bad request: No range index for `order_by` key: `{wanted.order_by.key}`")
    points, after = engine.scroll(name, wanted.filter, wanted.limit, wanted.order_by, wanted.offset, wanted.with_payload)
    return {"points": points, "next_page_offset": after}


def count(name, body):
    return engine.count(name, models.CountRequest.model_validate(body).filter)


def delete(name, body):
    selector = models.FilterSelector if "filter" in body else models.PointIdsList
    return engine.delete(name, selector.model_validate(body))


def set_payload(name, body):
    wanted = models.SetPayload.model_validate(body)
    return engine.set_payload(name, wanted.payload, wanted.points or wanted.filter)


def batch(name, body):
    return engine.batch_update_points(name, models.UpdateOperations.model_validate(body).operations)


routes = {
    ("GET", "/exists"): exists,
    ("PUT", ""): create,
    ("DELETE", ""): drop,
    ("PUT", "/index"): index,
    ("PUT", "/points"): upsert,
    ("POST", "/points"): retrieve,
    ("POST", "/points/query"): query,
    ("POST", "/points/scroll"): scroll,
    ("POST", "/points/count"): count,
    ("POST", "/points/delete"): delete,
    ("POST", "/points/payload"): set_payload,
    ("POST", "/points/batch"): batch,
}


def plain(value):
    if isinstance(value, BaseModel):
        return value.model_dump(mode="json", exclude_none=True)
    if isinstance(value, (list, tuple)):
        return [plain(each) for each in value]
    if isinstance(value, dict):
        return {key: plain(each) for key, each in value.items()}
    return value


class Front(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    # Head and body leave together: apart, each answer would wait for the client's delayed acknowledgement.
    wbufsize = 1 << 20

    def handle_request(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        path = urlsplit(self.path).path
        if path == "/":
            return self.answer(200, {"title": "qdrant - local mode", "version": "1.18.0"})
        try:
            found = re.fullmatch(r"/collections/([^/]+)(/.*)?", path)
            route = found and routes.get((self.command, found.group(2) or ""))
            if not route:
                raise Refusal(404, f"{self.command} {path}")
            with one_at_a_time:
                name = unquote(found.group(1))
                known = route in (exists, create) or engine.collection_exists(name)
                if not known:
                    raise Refusal(404, f"Not found: Collection `{name}` doesn't exist!")
                result = plain(route(name, json.loads(body) if body else {}))
            self.answer(200, {"result": result, "status": "ok", "time": 0})
        except Refusal as refusal:
            self.fail(refusal.status, refusal)
        except KeyError as missing:
            self.fail(404, f"Not found: No point with id {missing} found")
        except (ValidationError, ValueError) as wrong:
            self.fail(400, wrong)
        except Exception as failure:
            self.fail(500, failure)

    do_GET = do_PUT = do_POST = do_DELETE = handle_request

    def fail(self, status, reason):
        self.answer(status, {"status": {"error": str(reason)}, "time": 0})

    def answer(self, status, value):
        content = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_):
        pass


class Server(ThreadingHTTPServer):
    request_queue_size = 128
    daemon_threads = True


Server(("127.0.0.1", port), Front).serve_forever()
