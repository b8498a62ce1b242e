"""A website whose users log in with OpenID Connect, by Authlib. A signed cookie keeps the user."""

import os

from authlib.integrations.base_client import OAuthError
from authlib.integrations.flask_client import OAuth
from flask import Flask, redirect, session, url_for
from markupsafe import escape

app = Flask(__name__)
app.secret_key = os.urandom(32)
mpin = OAuth(app).register(
    "mpin", client_id=os.environ["CLIENT_ID"], client_secret=os.environ["CLIENT_SECRET"],
    server_metadata_url=os.environ["ISSUER"] + "/.well-known/openid-configuration",
    client_kwargs={"scope": "openid profile email", "code_challenge_method": "S256"},
)

@app.get("/")
def home():
    if "name" not in session:
        return '<h1>Shop</h1><a href="/login">Log in</a>'
    return f'<h1>Welcome, {escape(session["name"])}</h1><form method="post" action="/logout"><button>Log out</button></form>'

@app.get("/login")
def login():
    return mpin.authorize_redirect(url_for("callback", _external=True))

@app.get("/callback")
def callback():
    try:
        user = mpin.userinfo(token=mpin.authorize_access_token())
    except OAuthError as error:
        return f'<h1>Not logged in</h1>{escape(error.description)}. <a href="/">Back</a>', 403
    session.update(sub=user["sub"], name=user.get("name", user["sub"]))
    return redirect("/")

@app.post("/logout")
def logout():
    session.clear()
    return redirect("/")
