"""Forward authentication: websites behind nginx and Caddy, which are configured by the lines of docs/forward-auth.md.

Both websites are at https://localhost, so that their cookies are those of production; only their ports differ.
"""

from __future__ import annotations

import http.server
import json
import os
import re
import socket
import ssl
import struct
import subprocess
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
import requests
from phone import Phone, wait_until
from ports import free_ports
from relying_party import Person, authorize

BACKEND = os.environ["MPIN_BACKEND"]
WORK = Path(os.environ["MPIN_WORK"])
ROOT = Path(__file__).resolve().parents[2]
DOCUMENT = (ROOT / "docs/forward-auth.md").read_text()
CERTIFICATE = str(WORK / "site.pem")
PIN = "1234"
PAGE = {"Accept": "text/html,*/*;q=0.8"}
SCRIPTS = [{"X-Requested-With": "XMLHttpRequest"}, {"Sec-Fetch-Mode": "cors"}, {"Accept": "application/json"}]
IDENTITY = {"Remote-User", "Remote-Name", "Remote-Email", "Remote-Groups"}
SESSION = "__Host-mpin-auth"


class App(http.server.ThreadingHTTPServer):
    """The website behind the proxies. It answers with what it was asked, and knows nothing of logins."""

    daemon_threads = True

    def __init__(self) -> None:
        self.calls = calls = []

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                self.rfile.read(int(self.headers["Content-Length"] or 0))
                calls.append(self.path)
                body = json.dumps({"path": self.path, "headers": self.headers.items()}).encode()
                self.send_response(200)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            do_POST = do_GET

            def log_message(self, *arguments: object) -> None:
                pass

        super().__init__(("127.0.0.1", 0), Handler)
        self.calls: list[str]


@pytest.fixture(scope="session")
def app() -> Iterator[App]:
    with App() as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server
        server.shutdown()


def snippet(language: str, app: App) -> str:
    """Returns a configuration of the document, with the ports of this test."""
    found = re.search(rf"```{language}\n(.*?)```", DOCUMENT, re.DOTALL)
    assert found
    text = found[1].replace("127.0.0.1:3000", f"127.0.0.1:{app.server_port}")
    return text.replace("127.0.0.1:8005", BACKEND.removeprefix("http://"))


@contextmanager
def running(port: int, *command: str) -> Iterator[None]:
    with (WORK / "proxies.txt").open("ab") as log, subprocess.Popen(command, stdout=log, stderr=log) as process:
        try:
            wait_until(lambda: process.poll() is not None or answers(port))
            assert process.poll() is None, (WORK / "proxies.txt").read_text()
            yield
        finally:
            process.terminate()


def answers(port: int) -> bool:
    with closing(socket.socket()) as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def mpind_client(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [os.environ["MPIN_SERVER"], "client", *arguments, "--state-dir", str(WORK / "state")]
    return subprocess.run(command, capture_output=True, text=True)


def protect(name: str, port: int) -> str:
    """Registers a protected host, and returns its address."""
    address = f"https://localhost:{port}"
    done = mpind_client("add", name, "--forward-auth", f"localhost:{port}")
    assert done.returncode == 0, done.stderr
    assert f"redirect-uri: {address}/auth/callback" in done.stdout
    return address


@pytest.fixture(scope="session")
def nginx(app: App) -> Iterator[str]:
    (port,) = free_ports(1)
    folder = WORK / "nginx"
    folder.mkdir()
    site = snippet("nginx", app).replace("listen 443 ssl", f"listen 127.0.0.1:{port} ssl http2")
    site = site.replace("server_name app.example.com", "server_name localhost").replace("X-Mpin-Client app;", "X-Mpin-Client behind-nginx;")
    site = re.sub(r"(X-Original-URL https://|Host )app\.example\.com", rf"\g<1>localhost:{port}", site)
    site = site.replace("/etc/ssl/app.example.com.pem", CERTIFICATE)
    site = site.replace("/etc/ssl/app.example.com.key", str(WORK / "site.key"))
    (folder / "site.conf").write_text(site)
    kinds = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    paths = "".join(f"{kind}_temp_path {folder}/{kind};" for kind in kinds)
    (folder / "nginx.conf").write_text(
        f"user root; daemon off; pid {folder}/pid; events {{}} http {{ access_log off; {paths} include site.conf; }}"
    )
    with running(port, "/usr/sbin/nginx", "-e", f"{folder}/errors.txt", "-c", f"{folder}/nginx.conf"):
        yield protect("behind-nginx", port)


@pytest.fixture(scope="session")
def caddy(app: App) -> Iterator[str]:
    (port,) = free_ports(1)
    site = snippet("caddy", app).replace("X-Mpin-Client app", "X-Mpin-Client behind-caddy")
    tls = f"tls {CERTIFICATE} {WORK}/site.key\n"
    site = site.replace("app.example.com {", f"https://localhost:{port} {{\n\tbind 127.0.0.1\n\t{tls}")
    assert tls in site
    file = WORK / "Caddyfile"
    file.write_text("{\n\tadmin off\n\tauto_https disable_redirects\n}\n" + site)
    with running(port, "/usr/bin/caddy", "run", "--config", str(file), "--adapter", "caddyfile"):
        yield protect("behind-caddy", port)


@pytest.fixture(params=["nginx", "caddy"])
def host(request: pytest.FixtureRequest) -> str:
    return str(request.getfixturevalue(request.param))


def registered(user: str) -> Phone:
    phone = Phone(BACKEND, user)
    assert phone.start_registration()
    phone.finish_registration(PIN)
    return phone


@pytest.fixture(scope="session")
def phone() -> Phone:
    return registered("alice@example.com")


class Visitor(Person):
    """A user whose browser visits protected hosts."""

    def __init__(self, phone: Phone) -> None:
        super().__init__(BACKEND, phone, PIN)

    def visit(self, url: str, headers: dict[str, str] = PAGE, method: str = "GET", **more: Any) -> requests.Response:
        """Sends one request and follows no redirect."""
        return self.browser.request(method, url, headers=headers, allow_redirects=False, **more)

    def callback(self, url: str) -> str:
        """Opens a page of a host where the browser has no session. Returns the URL of the callback, without opening
        it. If the browser has no session at the provider, it logs in there."""
        start = self.visit(url)
        assert start.status_code == 302
        begun = self.visit(start.headers["Location"])
        assert begun.status_code == 303 and begun.headers["Location"].startswith(BACKEND + "/authorize?")
        answer = self.open(begun.headers["Location"])
        return str((answer if answer.status_code == 303 else self.log_in()).headers["Location"])

    def enter(self, url: str) -> requests.Response:
        """Opens a page of a host where the browser has no session, and logs in. Returns the answer of the callback."""
        return self.visit(self.callback(url))


@pytest.fixture
def alice(phone: Phone) -> Visitor:
    return Visitor(phone)


def identity(answer: requests.Response) -> dict[str, list[str]]:
    """Returns the headers with which the proxy names a user to the website. Websites of CGI and WSGI take `_` for
    `-`."""
    assert answer.status_code == 200, answer.status_code
    found: dict[str, list[str]] = {}
    for name, value in answer.json()["headers"]:
        if name.lower().replace("_", "-").startswith("remote-"):
            found.setdefault(name, []).append(value)
    return found


def cookie_lines(answer: requests.Response) -> list[str]:
    return [value for name, value in answer.raw.headers.items() if name.lower() == "set-cookie"]


ALICE = {"Remote-User": ["alice@example.com"], "Remote-Name": ["alice@example.com"], "Remote-Email": ["alice@example.com"]}


def named_headers(answer: requests.Response) -> dict[str, list[str]]:
    """Returns the headers of `identity` that have a value."""
    return {name: values for name, values in identity(answer).items() if values != [""]}


def test_a_login(host: str, app: App, alice: Visitor) -> None:
    """A login leads back to the page that the user wanted, with its query. Row 73: cookies are for this host and https
    only, and a login brings a new one. Row 22: redirects do not repeat a POST."""
    app.calls.clear()
    page = host + "/private/%E4?x=1&y=%2F+z"
    answer = alice.visit(page)
    assert answer.status_code == 302 and answer.headers["Location"].startswith(host + "/auth/start?to=%2Fprivate")
    begun = alice.visit(answer.headers["Location"])
    assert begun.status_code == 303
    (cookie,) = cookie_lines(begun)
    assert re.match(r"__Host-mpin-auth-login-[\w-]{8}=[\w-]{43}; ", cookie)
    for part in ("Path=/", "Secure", "HttpOnly", "SameSite=Lax"):
        assert part in cookie.split("; ")
    alice.open(begun.headers["Location"])
    done = alice.visit(alice.log_in().headers["Location"])
    assert (done.status_code, done.headers["Location"]) == (303, page)
    session, ended = cookie_lines(done)
    assert re.match(r"__Host-mpin-auth=[\w-]{43}; ", session) and "Max-Age=0" in ended
    for part in ("Path=/", "Secure", "HttpOnly", "SameSite=Lax"):
        assert part in session.split("; ")
    assert app.calls == []
    inside = alice.visit(page)
    assert named_headers(inside) == ALICE
    assert inside.json()["path"] == "/private/%E4?x=1&y=%2F+z"
    assert named_headers(alice.visit(host + "/", method="POST", data="x" * 10_000)) == ALICE
    # The next login in this browser needs no PIN, and has another cookie.
    old = alice.browser.cookies[SESSION]
    del alice.browser.cookies[SESSION]
    assert alice.enter(page).headers["Location"] == page
    assert alice.browser.cookies[SESSION] != old
    # A browser that is logged in passes by the login.
    again = alice.visit(host + "/auth/start?to=/elsewhere")
    assert again.headers["Location"] == host + "/elsewhere" and not cookie_lines(again)


SPOOFED = {
    "Remote-User": "bob@example.com", "remote-name": "Bob", "REMOTE-EMAIL": "bob@example.com",
    "Remote-Groups": "admins", "Remote_User": "bob@example.com", "Remote_Groups": "admins",
}  # fmt: skip


def test_nobody_names_himself(host: str, app: App, alice: Visitor) -> None:
    """Headers that a browser invents never reach the website: neither without a session nor with one."""
    app.calls.clear()
    assert alice.visit(host + "/", {**PAGE, **SPOOFED}).status_code == 302
    assert app.calls == []
    alice.enter(host + "/")
    assert named_headers(alice.visit(host + "/", {**PAGE, **SPOOFED})) == ALICE


def test_whoever_is_not_logged_in(host: str, app: App, alice: Visitor) -> None:
    """Scripts get 401 without an address, persons a login. After another method than GET, it leads to the start page,
    because the body is lost."""
    app.calls.clear()
    for script in SCRIPTS:
        answer = alice.visit(host + "/data", script)
        assert answer.status_code == 401 and "Location" not in answer.headers
    answer = alice.visit(host + "/save?x=1", method="POST", data="x")
    assert answer.status_code in (302, 303) and answer.headers["Location"] == host + "/auth/start?to=%2F"
    for cookie in ("x", "A" * 43, ""):
        assert alice.visit(host + "/", {**PAGE, "Cookie": f"{SESSION}={cookie}"}).status_code == 302
    assert app.calls == []


def verify(**headers: str) -> requests.Response:
    """Asks as a trusted proxy does: it is on this machine."""
    fields = {name.replace("_", "-"): value for name, value in headers.items()}
    return requests.get(BACKEND + "/auth/verify", headers=fields, allow_redirects=False)


def test_the_answers_to_each_proxy(nginx: str) -> None:
    """nginx gets 401 with `Location`, Traefik and Caddy get 302 for GET and 303 otherwise; all get 401 for scripts."""
    host = nginx.removeprefix("https://")
    forwarded = {"X_Forwarded_Proto": "https", "X_Forwarded_Host": host, "X_Forwarded_Uri": "/a?b"}
    start = nginx + "/auth/start?to=%2Fa%3Fb"
    got = verify(X_Original_URL=nginx + "/a?b", X_Original_Method="GET")
    assert (got.status_code, got.headers["Location"]) == (401, start)
    for method, status in (("GET", 302), ("HEAD", 302), ("POST", 303), ("DELETE", 303)):
        got = verify(X_Forwarded_Method=method, **forwarded)
        assert got.status_code == status
        assert got.headers["Location"] == (start if status == 302 else nginx + "/auth/start?to=%2F")
    for script in SCRIPTS:
        for asked in (forwarded, {"X_Original_URL": nginx + "/"}):
            got = verify(**asked, **script)
            assert got.status_code == 401 and "Location" not in got.headers
    # A host in another spelling is the same host.
    assert verify(X_Original_URL=nginx.upper().replace("HTTPS", "https") + "/").status_code == 401


@pytest.mark.parametrize(
    "headers",
    [
        {}, {"X_Original_URL": ""}, {"X_Original_URL": "/"}, {"X_Original_URL": "HOST"}, {"X_Forwarded_Host": "HOST"},
        {"X_Original_URL": "https://evil.example/"}, {"X_Original_URL": "http://HOST/"},
        {"X_Original_URL": "https://HOST@evil.example/"}, {"X_Original_URL": "https://user@HOST/"},
        {"X_Original_URL": "https://HOST.evil.example/"}, {"X_Original_URL": "https://HOST\\@evil.example/"},
        {"X_Original_URL": "https:///HOST/"}, {"X_Original_URL": "//HOST/"}, {"X_Original_URL": "https://HOST0/"},
        {"X_Forwarded_Proto": "https", "X_Forwarded_Host": "evil.example"},
        {"X_Forwarded_Proto": "http", "X_Forwarded_Host": "HOST"},
        {"X_Forwarded_Proto": "https", "X_Forwarded_Host": "evil.example, HOST"},
        {"X_Forwarded_Proto": "https", "X_Forwarded_Host": "HOST, evil.example"},
        {"X_Forwarded_Proto": "https,https", "X_Forwarded_Host": "HOST"},
        {"X_Forwarded_Proto": "javascript", "X_Forwarded_Host": "HOST"},
        {"X_Forwarded_Proto": "https", "X_Forwarded_Host": "HOST", "X_Original_URL": "https://evil.example/"},
        {"X_Forwarded_Proto": "https", "X_Forwarded_Host": "evil.example", "X_Original_URL": "https://HOST/"},
        {"X_Forwarded_Proto": "https", "X_Forwarded_Host": "OTHER", "X_Original_URL": "https://HOST/"},
    ],
)  # fmt: skip
def test_hosts_that_are_not_protected(nginx: str, caddy: str, headers: dict[str, str]) -> None:
    """A host that is not registered gets 403, and so do headers that name no host, or two."""
    names = {"HOST": nginx.removeprefix("https://"), "OTHER": caddy.removeprefix("https://")}
    for name, value in headers.items():
        for mark, text in names.items():
            value = value.replace(mark, text)
        headers = {**headers, name: value}
    assert verify(**headers).status_code == 403


def test_a_browser_cannot_choose_the_host(nginx: str, caddy: str, phone: Phone) -> None:
    """A browser's own `X-Forwarded-*` and `X-Original-*` do not change which host a proxy asks about. The session of
    one host opens no other."""
    visitor = Visitor(phone)
    visitor.enter(nginx + "/")
    cookie = {"Cookie": f"{SESSION}={visitor.browser.cookies[SESSION]}"}
    stranger = Visitor(phone)
    assert stranger.visit(nginx + "/", {**PAGE, **cookie}).status_code == 200
    name = nginx.removeprefix("https://")
    spoofed = {"X-Forwarded-Host": name, "X-Forwarded-Proto": "https", "X-Forwarded-Uri": "/"}
    for more in ({}, spoofed, {"X-Original-URL": nginx + "/"}, {**spoofed, "X-Original-URL": nginx + "/"}):
        assert stranger.visit(caddy + "/", {**PAGE, **cookie, **more}).status_code in (302, 401, 403)
    foreign = {"X-Forwarded-Host": "evil.example", "X-Forwarded-Proto": "https"}
    for host in (nginx, caddy):
        answer = stranger.visit(host + "/", {**PAGE, **foreign})
        assert "evil" not in answer.headers.get("Location", "")
    assert stranger.visit(nginx + "/", {**PAGE, **foreign, **cookie}).status_code != 200


def over_http1(address: str, lines: list[str]) -> bytes:
    """Sends a request of these lines to a host, and returns its answer. The names in the lines are those that it says."""
    port = urlsplit(address).port
    tls = ssl.create_default_context(cafile=CERTIFICATE)
    with socket.create_connection(("127.0.0.1", port)) as plain, tls.wrap_socket(plain, server_hostname="localhost") as line:
        line.sendall("".join(f"{text}\r\n" for text in [*lines, "Connection: close", ""]).encode())
        return b"".join(iter(lambda: line.recv(65536), b""))


def over_http2(address: str, fields: list[tuple[str, str]]) -> bytes:
    """Sends a request of these fields to a host by HTTP/2 (RFC 9113). Returns the first byte of the answer's fields, by which
    HPACK (RFC 7541) spells `:status: 200` as 0x88, or nothing if the host has refused the request as malformed."""
    port = urlsplit(address).port
    tls = ssl.create_default_context(cafile=CERTIFICATE)
    tls.set_alpn_protocols(["h2"])

    def frame(kind: int, flags: int, stream: int, body: bytes = b"") -> bytes:
        return struct.pack(">I", len(body))[1:] + struct.pack(">BBI", kind, flags, stream) + body

    # Each field is a literal without a place in the table, and without the code of Huffman.
    block = b"".join(
        b"\0" + b"".join(struct.pack("B", len(text)) + text for text in (name.encode(), value.encode()))
        for name, value in fields
    )
    with socket.create_connection(("127.0.0.1", port)) as plain, tls.wrap_socket(plain, server_hostname="localhost") as line:
        assert line.selected_alpn_protocol() == "h2"
        line.sendall(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + frame(4, 0, 0) + frame(1, 5, 1, block))
        with line.makefile("rb") as answer:
            while head := answer.read(9):
                body = answer.read(int.from_bytes(head[:3], "big"))
                if head[3] == 1 and head[8] == 1:
                    return body[:1]
                if head[3] in (3, 7):
                    return b""
    return b""


FIELDS_200 = b"\x88"


@pytest.fixture
def elsewhere(nginx: str, caddy: str, phone: Phone) -> dict[str, tuple[str, str]]:
    """For each host, the name of the other one, and the cookie of a session there."""
    visitor = Visitor(phone)
    found: dict[str, tuple[str, str]] = {}
    for host, other in ((nginx, caddy), (caddy, nginx)):
        visitor.browser.cookies.clear()
        visitor.enter(other + "/")
        found[host] = (other.removeprefix("https://"), f"{SESSION}={visitor.browser.cookies[SESSION]}")
    return found


def test_a_session_opens_only_the_host_that_the_proxy_chose(
    host: str, app: App, elsewhere: dict[str, tuple[str, str]]
) -> None:
    """The proxy takes the request for one host, and the request names another one in a second place, with a session there. In
    the absolute form the line of the request decides, and in HTTP/2 the field `:authority` (RFC 9112 section 3.2.2, RFC 9113
    section 8.3.1). With `Host` alone, nobody but the server for unknown names may answer."""
    name, (other, cookie) = host.removeprefix("https://"), elsewhere[host]
    app.calls.clear()
    rest = [f"Cookie: {cookie}", "Accept: text/html"]
    assert b" 302 " in over_http1(host, [f"GET https://{name}/secret HTTP/1.1", f"Host: {other}", *rest]).split(b"\n")[0]
    for target, names in (
        (f"https://{other}/secret", [name]), (f"https://{other}/secret", [other]), ("/secret", [other]),
        ("/secret", [name, other]), ("/secret", [other, name]), ("/secret", []),
    ):  # fmt: skip
        over_http1(host, [f"GET {target} HTTP/1.1", *(f"Host: {text}" for text in names), *rest])
    for names in ([(":authority", name), ("host", other)], [(":authority", other), ("host", name)], [(":authority", other)],
                  [("host", other)], [(":authority", name), ("host", name), ("host", other)]):  # fmt: skip
        fields = [(":method", "GET"), (":scheme", "https"), (":path", "/secret")]
        fields += [field for field in names if field[0][0] == ":"] + [("cookie", cookie)]
        over_http2(host, fields + [field for field in names if field[0][0] != ":"])
    assert app.calls == []
    # Whoever has a session at the host itself gets in by all of these ways.
    own = elsewhere[f"https://{other}"][1]
    assert b" 200 " in over_http1(host, [f"GET https://{name}/in HTTP/1.1", f"Host: {name}", f"Cookie: {own}"]).split(b"\n")[0]
    fields = [(":method", "GET"), (":scheme", "https"), (":path", "/in"), (":authority", name), ("cookie", own)]
    assert over_http2(host, fields) == FIELDS_200


def test_a_name_that_no_server_has(nginx: str, app: App, elsewhere: dict[str, tuple[str, str]]) -> None:
    """nginx gives a request for a name that no server has to its default server, which is for nothing else."""
    other, cookie = elsewhere[nginx]
    app.calls.clear()
    for name in (other.replace("localhost", "wiki.example.com"), "", "127.0.0.1", "app.example.com.evil.example"):
        for target in ("/secret", "/auth/start", "/auth/callback?state=x", "/auth/verify"):
            answer = over_http1(nginx, [f"GET {target} HTTP/1.1", f"Host: {name}", f"Cookie: {cookie}"])
            assert answer.split(b" ")[1] == (b"421" if name else b"400")
    assert app.calls == []


def test_the_client_of_the_host(nginx: str, caddy: str) -> None:
    """A proxy that says which client it asks about is answered only about that one's host."""
    for path in ("verify", "start", "callback"):
        for named, is_right in (
            ("behind-nginx", True), ("behind-caddy", False), ("nobody", False), ("", False), ("BEHIND-NGINX", False),
            ("behind-nginx, behind-caddy", False), ("behind-nginx,behind-nginx", False),
        ):  # fmt: skip
            for asked in ({"X-Original-URL": nginx + "/"}, forwarded(nginx)):
                headers = {**asked, "X-Mpin-Client": named}
                answer = requests.get(f"{BACKEND}/auth/{path}", headers=headers, allow_redirects=False)
                assert (answer.status_code == 403) != is_right, (path, named)


def forwarded(host: str) -> dict[str, str]:
    """The headers with which Caddy and Traefik name a host."""
    return {"X-Forwarded-Proto": "https", "X-Forwarded-Host": host.removeprefix("https://"), "X-Forwarded-Uri": "/"}


@pytest.mark.parametrize(
    "name",
    ["Remote_User", "remote_user", "REMOTE_GROUPS", "Remote_Name", "Remote_Email", "Remote.User", "Remote~User", "Remote!Groups"],
)
def test_names_that_a_website_takes_for_the_user(nginx: str, alice: Visitor, name: str) -> None:
    """CGI and WSGI spell `Remote-User` as `REMOTE_USER`, and other names as well. A proxy that passes such a name on gets no
    user, not even for a session; with the name that it replaces itself, it gets one."""
    alice.enter(nginx + "/")
    cookie = {"Cookie": f"{SESSION}={alice.browser.cookies[SESSION]}"}
    for asked in ({"X-Original-URL": nginx + "/"}, forwarded(nginx)):
        answers = [
            requests.get(f"{BACKEND}/auth/verify", headers={**asked, **cookie, field: "bob@example.com"}, allow_redirects=False)
            for field in ("Remote-User", name)
        ]
        assert [answer.status_code for answer in answers] == [200, 403]
        assert "Remote-User" not in answers[1].headers


@pytest.mark.parametrize("named", ["Remote-User", "Remote-Groups, close", "X-Mpin-Client", "X-Forwarded-Host, X-Original-URL"])
def test_headers_that_the_browser_calls_its_own(host: str, app: App, alice: Visitor, named: str) -> None:
    """A proxy drops the headers that `Connection` names (RFC 9110 section 7.6.1). None of those of this document may be lost."""
    alice.enter(host + "/")
    answer = alice.visit(host + "/", {**PAGE, "Connection": named})
    assert answer.status_code == 400 or named_headers(answer) == ALICE


@pytest.mark.parametrize(
    "target",
    [
        "https://evil.example/", "//evil.example/", "/\\evil.example/", "\\\\evil.example", "/%5Cevil.example",
        "@evil.example/", ".evil.example/", ":443@evil.example/", "/\t/evil.example/", "/\r\nLocation: https://evil.example/",
        "javascript:alert(1)", "", "?", "/" + "x" * 2048, "/..//evil.example", "/@evil.example", "/\u2044evil.example",
    ],
)  # fmt: skip
def test_row_72_a_login_leads_to_no_other_host(host: str, alice: Visitor, target: str) -> None:
    """Whatever `to` says, the browser goes to a path of the host where the login began, with or without a session."""
    for _ in range(2):
        begun = alice.visit(host + "/auth/start", params={"to": target})
        location = begun.headers["Location"]
        if location.startswith(BACKEND):
            answer = alice.open(location)
            answer = answer if answer.status_code == 303 else alice.log_in()
            location = alice.visit(answer.headers["Location"]).headers["Location"]
        assert location.startswith(host + "/") and "\\" not in location
        assert urlsplit(location).netloc == urlsplit(host).netloc


def test_a_callback_is_good_once_and_in_one_browser(host: str, alice: Visitor, phone: Phone) -> None:
    """Another browser cannot use a callback, neither to steal the login nor to be logged in to a foreign account. Its
    attempt does not spoil the login; a second use fails."""
    callback = alice.callback(host + "/")
    stranger = Visitor(phone)
    for headers in (PAGE, {**PAGE, "Cookie": "__Host-mpin-auth-login-" + parse_qs(callback)["state"][0][:8] + "=" + "A" * 43}):
        answer = stranger.visit(callback, headers)
        assert answer.status_code == 400 and not cookie_lines(answer) and "Start again" in answer.text
    # The stranger has begun a login, too, and brings the code of another one with it.
    own = stranger.visit(stranger.visit(host + "/").headers["Location"])
    state = parse_qs(urlsplit(own.headers["Location"]).query)["state"][0]
    mixed = re.sub(r"state=[^&]*", "state=" + state, callback)
    answer = stranger.visit(mixed)
    assert answer.status_code == 403 and SESSION not in stranger.browser.cookies
    # An answer of another provider is refused, and the login goes on.
    assert alice.visit(re.sub(r"iss=[^&]*", "iss=https%3A%2F%2Fevil.example", callback)).status_code == 400
    assert alice.visit(callback + "&state=x").status_code == 400
    assert alice.visit(callback).status_code == 303
    cookies = alice.browser.cookies.get_dict()
    answer = alice.visit(callback)
    assert answer.status_code == 400 and not cookie_lines(answer)
    assert alice.browser.cookies.get_dict() == cookies
    assert alice.visit(host + "/").status_code == 200


def test_only_the_server_redeems_the_code(host: str, alice: Visitor) -> None:
    """Whoever sees code and cookie cannot get tokens: the token endpoint serves no protected host."""
    callback = alice.callback(host + "/")
    (verifier,) = [cookie.value for cookie in alice.browser.cookies if "login" in cookie.name]
    name = "behind-nginx" if mpind_client("show", "behind-nginx").stdout.find(host) >= 0 else "behind-caddy"
    form = {
        "grant_type": "authorization_code", "code": parse_qs(urlsplit(callback).query)["code"][0],
        "redirect_uri": host + "/auth/callback", "client_id": name, "code_verifier": verifier,
    }  # fmt: skip
    answer = requests.post(BACKEND + "/oidc/token", data=form)
    assert (answer.status_code, answer.json()["error"]) == (400, "unauthorized_client")
    assert alice.visit(callback).status_code == 303


def test_tabs_and_their_cookies(host: str, alice: Visitor) -> None:
    """Row 23: each tab has its own login. Cookies of logins that nobody finishes do not become too many."""
    first, second = alice.callback(host + "/one"), alice.callback(host + "/two")
    assert alice.visit(first).headers["Location"] == host + "/one"
    assert alice.visit(second).headers["Location"] == host + "/two"
    del alice.browser.cookies[SESSION]
    for _ in range(40):
        alice.visit(host + "/auth/start")
    assert len([name for name in alice.browser.cookies.keys() if "login" in name]) <= 16
    assert alice.enter(host + "/three").headers["Location"] == host + "/three"


def test_a_declined_login(host: str, alice: Visitor) -> None:
    """A user who cancels gets a page with a way to begin again, and no loop of redirects."""
    begun = alice.visit(alice.visit(host + "/a?b").headers["Location"])
    alice.open(begun.headers["Location"])
    answer = alice.press("/authorize/confirm", step="login", answer="cancel")
    page = alice.visit(answer.headers["Location"])
    assert page.status_code == 403 and 'href="/auth/start?to=%2Fa%3Fb"' in page.text
    assert page.headers["X-Frame-Options"] == "DENY"


def test_the_session_ends_with_that_of_the_provider(host: str, alice: Visitor) -> None:
    """The operator ends the browser's session at the provider, and with it that of the host."""
    alice.enter(host + "/")
    old = {"Cookie": f"{SESSION}={alice.browser.cookies[SESSION]}"}
    assert requests.get(host + "/", headers=old).status_code == 200
    subprocess.run(
        [os.environ["MPIN_SERVER"], "session", "end", "--user", alice.phone.user, "--state-dir", str(WORK / "state")],
        check=True, capture_output=True,
    )  # fmt: skip
    ended = requests.get(host + "/", headers={**PAGE, **old}, allow_redirects=False)
    assert ended.status_code == 302


def test_who_may_see_the_host(host: str, app: App) -> None:
    """Only members of the group see the website. Others get a page with status 403 that says why, at each way there."""
    user = f"member-{host[-5:]}@example.com"
    visitor = Visitor(registered(user))
    name = "behind-nginx" if mpind_client("show", "behind-nginx").stdout.find(host) >= 0 else "behind-caddy"

    def put_into(group: str) -> None:
        command = [os.environ["MPIN_SERVER"], "user", "profile", "set", user, "--groups", group]
        subprocess.run([*command, "--state-dir", str(WORK / "state")], check=True, capture_output=True)

    visitor.enter(host + "/")
    assert visitor.visit(host + "/").status_code == 200
    done = mpind_client("set", name, "--allow-group", "staff", "--allow-user", "nobody@example.com")
    assert done.returncode == 0 and "allow-group: staff" in done.stdout, done.stderr
    try:
        app.calls.clear()
        assert visitor.visit(host + "/", SCRIPTS[0]).status_code == 401
        start = visitor.visit(host + "/a?b")
        assert start.status_code == 302
        begun = visitor.visit(start.headers["Location"])
        page = visitor.open(begun.headers["Location"])
        assert page.status_code == 403 and 'id="no-access"' in page.text and user in page.text
        back = visitor.press("/authorize/confirm", step="no-access", answer="cancel")
        refused = visitor.visit(back.headers["Location"])
        assert refused.status_code == 403 and 'href="/auth/start?to=%2Fa%3Fb"' in refused.text
        assert app.calls == []
        put_into("staff")
        assert named_headers(visitor.visit(host + "/"))["Remote-Groups"] == ["staff"]
        put_into("guests")
        assert visitor.visit(host + "/").status_code == 302
    finally:
        assert mpind_client("set", name, "--allow-group", "", "--allow-user", "").returncode == 0
    assert visitor.visit(host + "/").status_code == 200


def test_a_revoked_user(host: str) -> None:
    """The operator revokes a user: the next request is refused, and the provider does not log the user in."""
    user = f"revoked-{host[-5:]}@example.com"
    visitor = Visitor(registered(user))
    visitor.enter(host + "/")
    assert visitor.visit(host + "/").status_code == 200
    cookie = {"Cookie": f"{SESSION}={visitor.browser.cookies[SESSION]}"}
    del visitor.browser.cookies[SESSION]
    pending = visitor.callback(host + "/")
    with (WORK / "revoked").open("a") as file:
        file.write(user + "\n")
    assert visitor.visit(host + "/", {**PAGE, **cookie}).status_code == 302
    assert visitor.visit(pending).status_code == 403 and SESSION not in visitor.browser.cookies
    begun = visitor.visit(visitor.visit(host + "/").headers["Location"])
    assert visitor.open(begun.headers["Location"]).status_code == 200


def test_a_disabled_host(caddy: str, alice: Visitor) -> None:
    """A disabled client lets nobody in, at once."""
    alice.enter(caddy + "/")
    assert mpind_client("set", "behind-caddy", "--disabled", "true").returncode == 0
    try:
        assert alice.visit(caddy + "/").status_code == 403
        assert alice.visit(caddy + "/auth/start").status_code == 403
    finally:
        assert mpind_client("set", "behind-caddy", "--disabled", "false").returncode == 0
    assert alice.visit(caddy + "/").status_code == 200


def test_what_cannot_be_registered(nginx: str) -> None:
    """One client protects a host, by https or on this machine, and its redirect URI follows from the host."""
    taken = nginx.removeprefix("https://")
    for arguments, reason in (
        (["--forward-auth", taken], "is that of the client behind-nginx already"),
        (["--forward-auth", "http://app.example.com"], "forward-auth"),
        (["--forward-auth", "app.example.com/x"], "forward-auth"),
        (["--forward-auth", "app.example.com", "--redirect-uri", "https://app.example.com/cb"], "redirect-uri"),
    ):
        done = mpind_client("add", "another", *arguments)
        assert done.returncode != 0 and reason in done.stderr, done.stderr
