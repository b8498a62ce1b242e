"""A receiver of pushes, as an operator would write one: a program of its own that takes webhooks. It prints each request as
a line of JSON. `push_receiver.py PORT` refuses the first two tries of each push to a user whose id begins with "flaky"."""

from __future__ import annotations

import json
import sys
from collections import Counter
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

TRIES: Counter[str] = Counter()


class Receiver(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"])).decode()
        name = self.headers["webhook-id"]
        TRIES[name] += 1
        status = 503 if json.loads(body)["userID"].startswith("flaky") and TRIES[name] < 3 else 204
        headers = {name.lower(): value for name, value in self.headers.items()}
        print(json.dumps({"path": self.path, "headers": headers, "body": body, "status": status}), flush=True)
        self.send_response(status)
        if status != 204:
            self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, format: str, *arguments: object) -> None:
        """The requests are printed already."""


if __name__ == "__main__":
    server = ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Receiver)
    print("ready", flush=True)
    server.serve_forever()
