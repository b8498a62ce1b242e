"""An API that takes access tokens of the OpenID provider, and asks the provider about each (RFC 7662)."""

import os

import requests
from flask import Flask, jsonify, request

app = Flask(__name__)
ISSUER, AUDIENCE = os.environ["ISSUER"], os.environ["AUDIENCE"]
CREDENTIALS = (os.environ["CLIENT_ID"], os.environ["CLIENT_SECRET"])
#: The first token of each user at /bad-auth.
first_tokens: "dict[str, str]" = {}

def owner(token):
    """The user of a token that is valid and for this API; None for any other."""
    answer = requests.post(ISSUER + "/oidc/introspect", data={"token": token}, auth=CREDENTIALS, timeout=10)
    told = answer.json() if answer.status_code == 200 else {}
    audiences = told.get("aud") or []
    audiences = [audiences] if isinstance(audiences, str) else audiences
    return told["sub"] if told.get("active") and AUDIENCE in audiences else None

def refused():
    return jsonify(error="invalid_token"), 401, {"WWW-Authenticate": 'Bearer error="invalid_token"'}

def bearer():
    scheme, _, token = request.headers.get("Authorization", "").partition(" ")
    return token if scheme.lower() == "bearer" else ""

@app.get("/orders")
def orders():
    user = owner(bearer())
    return jsonify(user=user, orders=["a book", "a lamp"]) if user else refused()

@app.get("/bad-auth")
def bad_auth():
    """Refuses the first token of each user, as if it had ended early. A newer one is accepted."""
    user = owner(bearer())
    if not user or first_tokens.setdefault(user, bearer()) == bearer():
        return refused()
    return jsonify(user=user, orders=["a secret book"])
