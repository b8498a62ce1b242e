"""A website that knows nothing of logins. nginx lets only logged-in users through, and names them in a header."""

import html
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Dashboard(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        user = html.escape(self.headers["Remote-User"] or "nobody")
        page = f"<!doctype html><html lang=en><title>Dashboard</title><h1>Welcome, {user}</h1>".encode()
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(page)))
        self.end_headers()
        self.wfile.write(page)


ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Dashboard).serve_forever()
