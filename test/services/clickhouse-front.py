"""The HTTP interface of ClickHouse, as far as its official client uses it, over the embedded engine: port and data folder in."""
import gzip
import json
import re
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qsl, urlsplit

from chdb import session

port, data_folder = int(sys.argv[1]), sys.argv[2]
engine = session.Session(data_folder)
one_at_a_time = threading.Lock()
error_code = re.compile(r"Code: (\d+)")
format_clause = re.compile(rb"\bFORMAT\s+\w+\s*;?\s*$", re.IGNORECASE)


class Front(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        if urlsplit(self.path).path == "/ping":
            self.answer(200, b"Ok.\n")
        else:
            self.run(b"")

    def do_POST(self):
        self.run(self.read_body())

    def read_body(self):
        if self.headers.get("Transfer-Encoding", "").lower() == "chunked":
            pieces = []
            while size := int(self.rfile.readline().split(b";")[0], 16):
                pieces.append(self.rfile.read(size))
                self.rfile.readline()
            self.rfile.readline()
            body = b"".join(pieces)
        else:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        return gzip.decompress(body) if self.headers.get("Content-Encoding") == "gzip" else body

    def run(self, body):
        values = dict(parse_qsl(urlsplit(self.path).query, keep_blank_values=True))
        statement = values["query"].encode() + b"\n" + body if "query" in values else body
        parameters = {name[6:]: value for name, value in values.items() if name.startswith("param_")}
        form = values.get("default_format", "TabSeparated")
        if found := format_clause.search(statement):
            form = found.group(0).split()[1].rstrip(b";").decode()
        try:
            with one_at_a_time:
                engine.query(f"USE `{values.get('database', 'default')}`")
                result = engine.query(statement.decode(), form, params=parameters)
            content = result.bytes() if result is not None and hasattr(result, "bytes") else b""
        except Exception as failure:
            text = str(failure)
            code = error_code.search(text)
            self.answer(500, text.encode(), {"X-ClickHouse-Exception-Code": code.group(1) if code else "1"})
            return
        self.answer(200, content or b"", {"X-ClickHouse-Format": form, "X-ClickHouse-Summary": json.dumps({})})

    def answer(self, status, content, headers=None):
        self.send_response(status)
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.send_header("Content-Type", "text/plain; charset=UTF-8")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_):
        pass


ThreadingHTTPServer(("127.0.0.1", port), Front).serve_forever()
