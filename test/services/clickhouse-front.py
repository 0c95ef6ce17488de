"""The HTTP interface of ClickHouse, as far as its official client uses it, over the embedded engine: port and data folder in.

With the name of a cluster, the engine is its only server: distributed tables are the engine's own. It has no queue of
statements for all servers and no endpoint for replicas, so `ON CLUSTER` is left out and replicated tables are plain ones
that remember as many blocks. With the address of a Keeper and the name of a replica, replicated tables stay what they are.
"""
import gzip
import json
import re
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qsl, urlsplit

from chdb import session

port, data_folder, cluster, keeper, replica = (*sys.argv[1:], "", "", "")[:5]
config = f"""<clickhouse>
  <tcp_port>9000</tcp_port>
  <remote_servers><{cluster}><shard><internal_replication>true</internal_replication>
    <replica><host>127.0.0.1</host><port>9000</port></replica></shard></{cluster}></remote_servers>
  <macros><shard>1</shard><replica>{replica}</replica></macros>
  <zookeeper><node><host>127.0.0.1</host><port>{keeper}</port></node></zookeeper>
</clickhouse>"""
address = data_folder
if cluster:
    Path(f"{data_folder}.xml").write_text(config)
    address = f"{data_folder}?config-file={data_folder}.xml"
engine = session.Session(address)
settings = {row.split("\t")[0] for row in engine.query("SELECT name FROM system.settings").bytes().decode().splitlines()}
one_at_a_time = threading.Lock()
error_code = re.compile(r"Code: (\d+)")
format_clause = re.compile(rb"\bFORMAT\s+\w+\s*;?\s*$", re.IGNORECASE)


def on_one_server(statement):
    """What the engine can run of a statement for a cluster."""
    if not cluster or not statement.startswith(("CREATE", "ALTER", "DROP")):
        return statement
    statement = re.sub(r" ON CLUSTER '[^']*'", "", statement)
    replicated = re.compile(r"ENGINE = Replicated(\w*MergeTree)\('[^']*', '[^']*'\)")
    if keeper or not replicated.search(statement):
        return statement
    statement = replicated.sub(r"ENGINE = \1", statement)
    if " replicated_deduplication_window" in statement:
        return statement.replace(" replicated_deduplication_window", " non_replicated_deduplication_window")
    window = "non_replicated_deduplication_window = 1000"
    return f"{statement}, {window}" if " SETTINGS " in statement else f"{statement} SETTINGS {window}"


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
        given = {name: value for name, value in values.items() if name in settings}
        try:
            with one_at_a_time:
                engine.query(f"USE `{values.get('database', 'default')}`")
                try:
                    if given:
                        engine.query("SET " + ", ".join(f"{name} = '{value}'" for name, value in given.items()))
                    result = engine.query(on_one_server(statement.decode()), form, params=parameters)
                finally:
                    if given:
                        engine.query("SET " + ", ".join(f"{name} = DEFAULT" for name in given))
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


ThreadingHTTPServer(("127.0.0.1", int(port)), Front).serve_forever()
