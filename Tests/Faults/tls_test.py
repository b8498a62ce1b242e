"""Tests TLS connections that must not be trusted. Each must end in NETWORK_ERROR, and a good one in OK.

usage: tls_test.py PROBE
"""

import base64
import hashlib
import socket
import ssl
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

SETTINGS = (
    b'{"appID":"c0ffee","registerURL":"/u","signatureURL":"/s","certivoxURL":"/d/","timePermitsURL":"/t",'
    b'"mpinAuthServerURL":"/rps","authenticateURL":"/a"}'
)
ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\nConnection: close\r\n\r\n%s" % (len(SETTINGS), SETTINGS)


# A function that talks to one client over its socket.
Handler = Callable[[socket.socket], None]


class Authority:
    """A certificate authority in a folder, made with the openssl command."""

    def __init__(self, folder: Path, name: str) -> None:
        self.folder, self.name = folder, name
        self.file = folder / f"{name}.pem"
        self._run("req", "-x509", *self._new_key(name), "-days", "2", "-out", self.file)

    def certificate(self, name: str, names: str, *dates: str) -> Path:
        """Makes a certificate with its key in one file. `dates`: first and last, YYYYMMDDHHMMSSZ; default: from now on."""
        config = self.folder / f"{name}.conf"
        config.write_text(
            f"[ca]\ndefault_ca=c\n[c]\ndatabase={self.folder}/{name}.index\nnew_certs_dir={self.folder}\n"
            f"rand_serial=yes\ndefault_md=sha256\npolicy=p\nx509_extensions=x\n[p]\ncommonName=supplied\n"
            f"[x]\nsubjectAltName={names}\n"
        )
        (self.folder / f"{name}.index").touch()
        request, result = self.folder / f"{name}.csr", self.folder / f"{name}.crt"
        self._run("req", "-new", *self._new_key(name), "-out", request)
        validity = ["-startdate", dates[0], "-enddate", dates[1]] if dates else ["-days", "2"]
        self._run(
            "ca", "-batch", "-config", config, "-in", request, "-out", result, "-notext", *validity,
            "-cert", self.file, "-keyfile", self.folder / f"{self.name}.key",
        )
        both = self.folder / f"{name}.both"
        both.write_bytes(result.read_bytes() + (self.folder / f"{name}.key").read_bytes())
        return both

    def _new_key(self, name: str) -> list[str]:
        curve = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1"]
        return [*curve, "-nodes", "-subj", f"/CN={name}", "-keyout", f"{self.folder}/{name}.key"]

    def _run(self, *arguments: object) -> None:
        subprocess.run(["openssl", *map(str, arguments)], check=True, capture_output=True)


def pin(certificate: Path) -> str:
    """Returns the certificate's public key in the format of mpin_config.pinned_keys."""
    public = subprocess.run(
        ["openssl", "x509", "-in", certificate, "-noout", "-pubkey"], check=True, capture_output=True
    ).stdout
    der = ssl.PEM_cert_to_DER_cert(public.decode().replace("PUBLIC KEY", "CERTIFICATE"))
    return "sha256//" + base64.b64encode(hashlib.sha256(der).digest()).decode()


def serve(handle: Handler) -> tuple[int, Callable[[], None]]:
    """Opens a loopback port and lets `handle` talk to each client. Returns the port and a function that closes it."""
    listener = socket.create_server(("127.0.0.1", 0))

    def loop() -> None:
        while True:
            try:
                peer, _ = listener.accept()
            except OSError:
                return
            with peer:
                peer.settimeout(5)
                try:
                    handle(peer)
                except OSError:
                    pass

    threading.Thread(target=loop, daemon=True).start()
    return listener.getsockname()[1], lambda: listener.shutdown(socket.SHUT_RDWR)


def tls(certificate: Path, change: Callable[[ssl.SSLContext], None] = lambda _: None) -> Handler:
    """Returns a handler that answers every request over TLS with client settings."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    change(context)

    def handle(peer: socket.socket) -> None:
        with context.wrap_socket(peer, server_side=True) as connection:
            if connection.recv(65536):
                connection.sendall(ANSWER)

    return handle


def tls_once(certificate: Path) -> Handler:
    """Returns a handler that answers every request on its first connection and refuses all other connections."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    connections: list[socket.socket] = []

    def handle(peer: socket.socket) -> None:
        connections.append(peer)
        if len(connections) == 1:
            with context.wrap_socket(peer, server_side=True) as connection:
                while connection.recv(65536):
                    connection.sendall(ANSWER.replace(b"Connection: close\r\n", b""))

    return handle


def only_tls_1_1(context: ssl.SSLContext) -> None:
    """Allows only TLS 1.0 and 1.1, which have been withdrawn (RFC 8996)."""
    context.set_ciphers("ALL:@SECLEVEL=0")
    context.minimum_version = ssl.TLSVersion.TLSv1
    context.maximum_version = ssl.TLSVersion.TLSv1_1


def only_tls_1_2(context: ssl.SSLContext) -> None:
    """Allows TLS up to 1.2 only, the oldest version that the client accepts."""
    context.maximum_version = ssl.TLSVersion.TLSv1_2


def cut(certificate: Path, at: int) -> Handler:
    """Returns a handler for a TLS server of whose answer only the first `at` bytes arrive."""
    port, _ = serve(tls(certificate))

    def handle(peer: socket.socket) -> None:
        left = at
        with socket.create_connection(("127.0.0.1", port)) as server:
            peer.settimeout(0.3)
            server.settimeout(0.3)
            while left > 0:
                for source, target in ((peer, server), (server, peer)):
                    try:
                        data = source.recv(65536)
                    except TimeoutError:
                        continue
                    if source is server:
                        data = data[:left]
                        left -= len(data)
                    if not data:
                        return
                    target.sendall(data)

    return handle


def plain(peer: socket.socket) -> None:
    """Answers in plain HTTP where the client expects TLS."""
    peer.recv(65536)
    peer.sendall(ANSWER)


def main() -> int:
    probe = sys.argv[1]
    cases: list[Future[bool]] = []

    def ends_so(case: str, expected: str, handle: Handler, host: str, arguments: list[str]) -> bool:
        port, close = serve(handle)
        command = [probe, f"https://{host}:{port}", *arguments]
        said = subprocess.run(command, capture_output=True, text=True, timeout=60).stdout.strip()
        close()
        if said in expected.split("|"):
            return True
        print(f"{case}: {said}, not {expected}", file=sys.stderr)
        return False

    # Runs eight cases at a time, because each one mostly waits for its client, which pauses before another try.
    with tempfile.TemporaryDirectory() as name, ThreadPoolExecutor(8) as pool:

        def expect(case: str, expected: str, handle: Handler, *arguments: object, host: str = "127.0.0.1") -> None:
            cases.append(pool.submit(ends_so, case, expected, handle, host, [str(argument) for argument in arguments]))

        folder = Path(name)
        ours, theirs = Authority(folder, "ours"), Authority(folder, "theirs")
        here = "IP:127.0.0.1,DNS:localhost"
        good = ours.certificate("good", here)
        other = theirs.certificate("other", here)
        refused = "NETWORK_ERROR"
        expect("a good certificate", "OK", tls(good), ours.file)
        expect("a connection that a child has a copy of", "OK", tls_once(good), ours.file)
        expect("a good certificate by name", "OK", tls(good), ours.file, host="localhost")
        expect("TLS 1.2", "OK", tls(good, only_tls_1_2), ours.file)
        expect("the right key", "OK", tls(good), ours.file, pin(good))
        expect("the right key and another", "OK", tls(good), ours.file, f"{pin(other)};{pin(good)}")
        expect("another key", refused, tls(good), ours.file, pin(other))
        expect("the authority's key", refused, tls(good), ours.file, pin(ours.file))
        expect("another authority", refused, tls(other), ours.file)
        expect("another authority, the right key", refused, tls(other), ours.file, pin(other))
        expired = ours.certificate("expired", here, "20200101000000Z", "20210101000000Z")
        expect("an expired certificate", refused, tls(expired), ours.file)
        future = ours.certificate("future", here, "20900101000000Z", "20910101000000Z")
        expect("a certificate of the future", refused, tls(future), ours.file)
        for number, names in enumerate(("DNS:example.com", "IP:127.0.0.2", "DNS:127.0.0.1", "DNS:*")):
            wrong = ours.certificate(f"wrong{number}", names)
            expect(f"a certificate for {names}", refused, tls(wrong), ours.file)
        itself = Authority(folder, "itself")
        own = folder / "own.both"
        own.write_bytes(itself.file.read_bytes() + (folder / "itself.key").read_bytes())
        expect("a self-signed certificate", refused, tls(own), ours.file)
        expect("TLS 1.1", refused, tls(good, only_tls_1_1), ours.file)
        expect("plain HTTP", refused, plain, ours.file)
        expect("no answer", f"{refused}|TIMED_OUT", lambda peer: None, ours.file)
        expect("no authorities", refused, tls(good), folder / "nothing")
        for at in (0, 1, 5, 50, 127, 128, 300, 700, 1000):
            expect(f"a handshake cut at {at}", f"{refused}|TIMED_OUT", cut(good, at), ours.file)
        results = [case.result() for case in cases]
    print(f"tls_test: {results.count(True)} passed, {results.count(False)} failed")
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
