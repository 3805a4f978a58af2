"""A small MCP server for tests: over pipes, or over HTTP when it is given `http`."""

import json
import os
import subprocess
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

OBJECT = {"type": "object", "properties": {}, "additionalProperties": False}
NUMBERS = {
    "type": "object",
    "properties": {"a": {"type": "number"}, "b": {"type": "number"}},
    "required": ["a", "b"],
    "additionalProperties": False,
}
SUM = {"type": "object", "properties": {"sum": {"type": "number"}}, "required": ["sum"]}
ANY = {"type": "object"}


def tool(name, description, schema=OBJECT, output=None):
    made = {"name": name, "description": description, "inputSchema": schema}
    if output:
        made["outputSchema"] = output
    return made


TOOLS = [
    tool("echo", "Says what it was told.", ANY),
    tool("add", "Adds two numbers.", NUMBERS, SUM),
    tool("wrong", "Promises a sum and does not keep it.", OBJECT, SUM),
    tool("fail", "Fails."),
    tool("error", "Is refused by the protocol."),
    tool("die", "Ends the server."),
    tool("hang", "Never answers."),
    tool("flood", "Sends a line of 20 MiB."),
    tool("about", "Says who the server is and what it has been given."),
    tool("change", "Adds a tool."),
    tool("ask", "Asks the client for three things."),
    tool("spawn", "Starts a process that stays."),
    tool("create-issue", "Opens an issue."),
    tool("create.issue", "Opens another issue."),
    tool("leak", "Tells the secret: " + os.environ.get("SECRET", "none")),
]
CALLS = {"count": 0}
ASKED = {}
ENDED = threading.Event()


def text(value):
    return {"content": [{"type": "text", "text": value if isinstance(value, str) else json.dumps(value)}]}


def call(name, arguments, headers, send):
    CALLS["count"] += 1
    if name == "echo":
        return text(arguments)
    if name == "add":
        total = {"sum": arguments["a"] + arguments["b"]}
        return {**text(total), "structuredContent": total}
    if name == "wrong":
        return {**text("x"), "structuredContent": {"sum": "many"}}
    if name == "fail":
        return {**text("it did not work: " + os.environ.get("SECRET", "")), "isError": True}
    if name == "die":
        print("I am going, and my secret is " + os.environ.get("SECRET", ""), file=sys.stderr, flush=True)
        os._exit(3)
    if name == "hang":
        ENDED.wait()
    if name == "flood":
        sys.stdout.write("x" * (20 << 20))
        sys.stdout.flush()
        ENDED.wait()
    if name == "about":
        return text({"pid": os.getpid(), "calls": CALLS["count"], "env": dict(os.environ), "headers": headers, "cwd": os.getcwd()})
    if name == "change":
        TOOLS.append(tool("added", "Was added."))
        send({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"})
        return text("done")
    if name == "ask":
        answers = []
        schema = {"type": "object", "properties": {}}
        for number, (method, params) in enumerate([
            ("sampling/createMessage", {"messages": [], "maxTokens": 1}),
            ("roots/list", {}),
            ("elicitation/create", {"message": "who?", "requestedSchema": schema}),
        ]):
            key = f"asked-{number}"
            ASKED[key] = threading.Event(), {}
            send({"jsonrpc": "2.0", "id": key, "method": method, "params": params})
            ASKED[key][0].wait(10)
            answers.append(ASKED[key][1])
        return text(answers)
    if name == "spawn":
        return text({"pid": subprocess.Popen(["sleep", "600"]).pid})
    return text(name)


def answer(message, headers, send):
    """The reply to a message; nothing to a notification."""
    method, key = message.get("method"), message.get("id")
    if method is None:
        if key in ASKED:
            ASKED[key][1].update({k: message[k] for k in ("error", "result") if k in message})
            ASKED[key][0].set()
        return None
    if key is None:
        return None
    params = message.get("params") or {}
    reply = {"jsonrpc": "2.0", "id": key}
    if method == "initialize":
        version = params["protocolVersion"]
        capabilities = {"tools": {"listChanged": True}}
        return {**reply, "result": {"protocolVersion": version, "capabilities": capabilities, "serverInfo": {"name": "small", "version": "1"}}}
    if method == "ping":
        return {**reply, "result": {}}
    if method == "tools/list":
        start, most = int(params.get("cursor") or 0), 5 if len(TOOLS) < 100 else 1_000
        page = {"tools": TOOLS[start:start + most]}
        if start + most < len(TOOLS):
            page["nextCursor"] = str(start + most)
        return {**reply, "result": page}
    if method == "tools/call":
        if params["name"] == "error":
            return {**reply, "error": {"code": -32602, "message": "not like this"}}
        return {**reply, "result": call(params["name"], params.get("arguments") or {}, headers, send)}
    return {**reply, "error": {"code": -32601, "message": "Method not found"}}


def pipes():
    lock = threading.Lock()

    def send(message):
        with lock:
            sys.stdout.write(json.dumps(message) + "\n")
            sys.stdout.flush()

    def work(message):
        reply = answer(message, {}, send)
        if reply:
            send(reply)

    print("hello from stderr", file=sys.stderr, flush=True)
    for line in sys.stdin:
        threading.Thread(target=work, args=(json.loads(line),), daemon=True).start()
    os._exit(0)


class Web(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    session = str(time.time_ns())

    def log_message(self, *_):
        pass

    def refuse(self, status, body=b""):
        self.send_response(status)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        self.refuse(405)

    def do_DELETE(self):
        self.refuse(200)

    def do_POST(self):
        message = json.loads(self.rfile.read(int(self.headers["content-length"])))
        wanted = os.environ.get("WANTED")
        if wanted and self.headers.get("authorization") != wanted:
            return self.refuse(401, b"who are you?")
        known = self.headers.get("mcp-session-id")
        if message.get("method") not in ("initialize", "server/discover") and known != Web.session:
            # As the examples of the official SDK do, not as the protocol says.
            return self.refuse(400, b"Bad Request: No valid session ID provided")
        reply = answer(message, dict(self.headers), lambda _: None)
        if reply is None:
            return self.refuse(202)
        body = json.dumps(reply).encode()
        kind = "application/json"
        if (message.get("params") or {}).get("name") == "add":
            kind, body = "text/event-stream", b": hello\n\nevent: message\ndata: " + body + b"\n\n"
        self.send_response(200)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(body)))
        if message.get("method") == "initialize":
            self.send_header("mcp-session-id", Web.session)
        self.end_headers()
        self.wfile.write(body)


if __name__ == "__main__":
    mode = os.environ.get("MODE")
    if mode == "silent":
        ENDED.wait()
    if mode == "many":
        TOOLS.extend(tool(f"many_{i}", "One of many.") for i in range(10_001))
    if len(sys.argv) > 1:
        server = ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Web)
        print(server.server_port, flush=True)
        server.serve_forever()
    pipes()
