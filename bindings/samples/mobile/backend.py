"""The back end of an app whose users log in with a PIN on the same phone: MIRACL's endpoints, by Authlib."""

import os

from authlib.integrations.base_client import OAuthError
from authlib.integrations.flask_client import OAuth
from flask import Flask, jsonify, request

app = Flask(__name__)
mpin = OAuth(app).register(
    "mpin", client_id=os.environ["CLIENT_ID"], client_secret=os.environ["CLIENT_SECRET"],
    server_metadata_url=os.environ["ISSUER"] + "/.well-known/openid-configuration",
    client_kwargs={"scope": "openid profile email"},
)
REDIRECT_URI = os.environ["REDIRECT_URI"]

@app.route("/authzurl", methods=["GET", "POST"])
def authorize_url():
    """The app calls get_access_code(authorizeURL), and logs in with that access code."""
    return jsonify(authorizeURL=mpin.create_authorization_url(REDIRECT_URI)["url"])

@app.post("/authtoken")
def log_in():
    """The app sends the code of finish_authentication_mfa(). The answer could have a session of the app."""
    body = request.get_json(silent=True)
    if not isinstance(body, dict) or not all(isinstance(body.get(name), str) for name in ("code", "userID")):
        return jsonify(error="code and userID are needed"), 400
    try:
        token = mpin.fetch_access_token(REDIRECT_URI, code=body["code"], grant_type="authorization_code")
        user = mpin.parse_id_token(token, nonce=None)
    except OAuthError as error:
        return jsonify(error=error.description), 401
    if user["sub"] != body["userID"]:
        return jsonify(error="the code is another user's"), 401
    return jsonify(userID=user["sub"])
