#!/usr/bin/env python3
"""Writes the first inputs of the fuzz targets: encodings that are refused, and some that are accepted.

usage: corpus.py VECTORS.json TRANSCRIPTS DIRECTORY
"""

import itertools
import json
import pathlib
import random
import re
import sys

# The number of functions that api.c can call, from its source. api.c uses a selector byte modulo this.
OPERATIONS = int(re.findall(r"OPERATIONS = (\d+)", pathlib.Path(__file__).with_name("api.c").read_text())[0])
# The number of messages in messages.swift, which uses a selector byte modulo this.
MESSAGES = 39
# Times in the formats that servers use.
TIMES = ("2026-11-21T02:43:45Z", "2026-11-21 02:43:45.123456", "1795229025", "1795229025123")
# The number of functions of mpin.h. sdk.c uses a selector byte modulo this.
FUNCTIONS = 96
# What tokens.swift reads, by the number that selects it; the parts of an ID token are separated by zero bytes.
HEADER, CLAIMS = '{"alg":"ES256","kid":"one"}', {"iss": "https://p.example", "sub": "ann", "aud": "app", "iat": 1000,
    "exp": 2000, "nonce": "n", "at_hash": "oFYf1knNtrqnhAVfBRuteQ"}
TOKENS = {
    1: [f"{HEADER}\0{json.dumps(CLAIMS)}\0" + 64 * "x", HEADER + "\0" + json.dumps({**CLAIMS, "aud": ["app", "b"],
        "azp": "app"}) + "\0x", '{"alg":"RS256"}\0{}\0', '{"alg":"none","crit":[]}\0{"exp":1e400}\0'],
    2: ['{"keys":[{"kty":"EC","crv":"P-256","kid":"one","x":"AA","y":"AA"}]}', '{"keys":[{"kty":"RSA","n":"' + 342 * "x" +
        '","e":"AQAB"}]}', '{"keys":{}}'],
    3: ['{"access_token":"a","token_type":"Bearer","expires_in":600,"refresh_token":"r","id_token":"i","scope":"openid"}',
        '{"access_token":"a","expires_in":"9223372036854775807"}', '{"access_token":"a","expires_in":-1}',
        '!{"error":"invalid_grant","error_description":"\x1b"}'],
    4: [json.dumps({"issuer": "https://p.example", "token_endpoint": "t", "jwks_uri": "k",
        "token_endpoint_auth_methods_supported": ["client_secret_post"]})],
    5: ['{"id":"1","name":"Ann","email_verified":true,"updated_at":1700000000}'],
    6: ["app:/callback?code=a%2Bb+c&state=$&iss=https%3A%2F%2Fp.example#x", "?error=access_denied&state=$", "?state=%"],
    7: [json.dumps({"lastProvider": "p", "unrevoked": [{"provider": "p", "token": "t"}], "session": {"id": "1",
        "provider": "p", "userID": "", "isRevoked": False, "accessToken": "a", "tokenType": "Bearer", "scope": "",
        "profile": dict.fromkeys(("sub", "name", "email", "emailVerified", "picture", "updatedAt"), "")}})],
}
DECODERS = {"g1_decode": 0, "g2_decode": 1, "gt_decode": 2, "scalar": 3, "pin_scalar": 4, "pin": 6}
# Right inputs for the decoders with these numbers, because the vectors contain only wrong ones.
ACCEPTED = {3: ["00" * 31 + "01"], 4: ["00" * 30 + "1234"], 5: ["30313233616263446546", "3031"], 6: ["31323334",
    "2d3132"],
            7: ["00" * 32, "ff" * 32, "5a" * 32], 2: ["00" * 31 + "01" + "00" * 352]}


def bodies(transcripts):
    """Returns the recorded messages of both sides, one of each kind."""
    kinds = {}
    for path in sorted(transcripts.glob("*.json")):
        recording = json.loads(path.read_text())
        exchanges = recording.get("exchanges") or itertools.chain.from_iterable(recording["contexts"].values())
        for exchange in exchanges:
            for body in (exchange["request"].get("body"), exchange["response"].get("body")):
                if isinstance(body, dict):
                    kinds.setdefault(tuple(body), json.dumps(body))
    return kinds.values()


def main():
    file = json.load(open(sys.argv[1]))
    vectors = file["vectors"]
    names = ("decoders", "messages", "tokens", "api", "sdk")
    decoders, messages, tokens, api, sdk = (pathlib.Path(sys.argv[3], name) for name in names)
    for directory in (decoders, messages, tokens, api, sdk):
        directory.mkdir(parents=True, exist_ok=True)
    target = pathlib.Path(__file__).with_name("tokens.swift").read_text()
    signed = "".join(re.findall(r'"(\S+)"', target.partition("private let signed =")[2].partition("private let published")[0]))
    for number, texts in {**TOKENS, 0: [signed, "..", "e30.e30.e30"]}.items():
        for n, text in enumerate(texts):
            (tokens / f"{number}-{n}").write_bytes(bytes([number]) + text.encode())
    for n, text in enumerate([*bodies(pathlib.Path(sys.argv[2])), *TIMES]):
        for number in range(MESSAGES):
            (messages / f"{n:04}-{number:02}").write_bytes(bytes([number]) + text.encode())
    inputs = [(DECODERS[v["op"]], v["in"]["bytes"]) for v in vectors if v["op"] in DECODERS]
    inputs += [(number, text) for number, texts in ACCEPTED.items() for text in texts]
    inputs += [(0, file["good"]["g1"])] + [(1, v["in"][k]) for v in vectors if v["op"] == "recombine_g2" for k in "ab"]
    for n, (number, text) in enumerate(inputs):
        (decoders / f"{n:04}").write_bytes(bytes([number + 8 * (n % 8 if number == 6 else 0)]) + bytes.fromhex(text))
    rng = random.Random(1)
    for n in range(10 * OPERATIONS):
        # Selects function n % OPERATIONS, with mostly right outputs and arguments (modes 7 to 15).
        body = bytes(rng.choice((7, 8, 0x2A, 0x4B, 0x6C, rng.randrange(256))) for _ in range(60))
        (api / f"{n:04}").write_bytes(bytes([n % OPERATIONS]) + body)
    for n in range(4 * FUNCTIONS):
        body = bytes(rng.choice((0, 1, 2, 3, rng.randrange(256))) for _ in range(100))
        (sdk / f"{n:04}").write_bytes(bytes([n % FUNCTIONS]) + body)


main()
