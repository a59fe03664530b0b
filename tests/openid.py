"""A local OpenID Connect provider: discovery, authorisation with PKCE, tokens, keys, logout.

Users log in by name, without a password. Like a real provider it refuses wrong clients, secrets, addresses, codes and
verifiers.
"""

import base64
import hashlib
import html
import json
import secrets
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

from joserfc import jwt
from joserfc.jwk import RSAKey

CLIENT = "pagelight"
CLIENT_SECRET = "the secret of the client"


class Provider:
    """The provider's state: users with claims by subject, and issued codes."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.people: dict[str, dict[str, Any]] = {}
        self.asked: list[str] = []
        self.codes: dict[str, dict[str, str]] = {}
        self.rotate()

    def rotate(self) -> None:
        """Sign with a new key from now on, and publish only this one."""
        self.key = RSAKey.generate_key(2048, {"kid": secrets.token_hex(4), "use": "sig", "alg": "RS256"})

    def token(self, subject: str, audience: str, key: RSAKey | None = None, **claims: Any) -> str:
        """Return a signed token about a user."""
        now = int(time.time())
        stated = {"iss": self.url, "sub": subject, "aud": audience, "iat": now, "exp": now + 600, **claims}
        signer = key or self.key
        known = {name: value for name, value in stated.items() if value is not None}
        return jwt.encode({"alg": "RS256", "kid": signer.kid}, known, signer)

    def metadata(self) -> dict[str, Any]:
        paths = {"authorization": "authorize", "token": "token", "end_session": "logout"}
        return {
            "issuer": self.url,
            "jwks_uri": f"{self.url}/jwks",
            **{f"{name}_endpoint": f"{self.url}/{path}" for name, path in paths.items()},
            "response_types_supported": ["code"],
            "subject_types_supported": ["public"],
            "id_token_signing_alg_values_supported": ["RS256"],
            "code_challenge_methods_supported": ["S256"],
        }

    def exchange(self, form: Mapping[str, str], authorization: str) -> dict[str, Any] | None:
        """Return the tokens for a one-time code; None if anything is wrong."""
        given = base64.b64encode(f"{CLIENT}:{CLIENT_SECRET}".encode()).decode()
        asked = self.codes.pop(form.get("code", ""), None)
        if asked is None or authorization != f"Basic {given}" or form.get("redirect_uri") != asked["redirect_uri"]:
            return None
        digest = hashlib.sha256(form.get("code_verifier", "").encode()).digest()
        if base64.urlsafe_b64encode(digest).rstrip(b"=").decode() != asked["code_challenge"]:
            return None
        person = self.people[asked["login"]]
        token = self.token(asked["login"], CLIENT, nonce=asked["nonce"], **person)
        return {"access_token": secrets.token_hex(8), "token_type": "Bearer", "expires_in": 600, "id_token": token}


class _Handler(BaseHTTPRequestHandler):
    provider: Provider

    def do_GET(self) -> None:
        address = urlsplit(self.path)
        query = dict(parse_qsl(address.query))
        self.provider.asked.append(address.path)
        match address.path:
            case "/.well-known/openid-configuration":
                self._send_json(self.provider.metadata())
            case "/jwks":
                self._send_json({"keys": [self.provider.key.as_dict(private=False)]})
            case "/authorize" if query.get("client_id") == CLIENT and query.get("response_type") == "code":
                self._authorize(query)
            case "/logout":
                self._redirect(query["post_logout_redirect_uri"])
            case _:
                self._send_json({"error": "invalid_request"}, 400)

    def do_POST(self) -> None:
        form = dict(parse_qsl(self.rfile.read(int(self.headers["content-length"])).decode()))
        found = self.provider.exchange(form, self.headers.get("authorization", ""))
        self._send_json(found or {"error": "invalid_grant"}, 200 if found else 400)

    def _authorize(self, query: dict[str, str]) -> None:
        if query.get("login") in self.provider.people:
            code = secrets.token_hex(16)
            self.provider.codes[code] = query
            self._redirect(f"{query['redirect_uri']}?{urlencode({'code': code, 'state': query['state']})}")
            return
        kept = "".join(
            f'<input type="hidden" name="{html.escape(name)}" value="{html.escape(value)}">'
            for name, value in query.items()
        )
        form = f'<!doctype html><form action="/authorize">{kept}<input name="login" aria-label="Name"></form>'
        self._send(form.encode(), "text/html; charset=utf-8")

    def _send_json(self, value: object, status: int = 200) -> None:
        self._send(json.dumps(value).encode(), "application/json", status)

    def _send(self, body: bytes, kind: str, status: int = 200) -> None:
        self.send_response(status)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def _redirect(self, url: str) -> None:
        self.send_response(302)
        self.send_header("location", url)
        self.send_header("content-length", "0")
        self.end_headers()

    def log_message(self, *_: object) -> None:
        """Print nothing."""


@contextmanager
def serving() -> Iterator[Provider]:
    """Run a provider on its own port during the block."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), type("Handler", (_Handler,), {}))
    provider = Provider(f"http://127.0.0.1:{server.server_port}")
    server.RequestHandlerClass.provider = provider  # type: ignore[attr-defined]
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield provider
    server.shutdown()
    server.server_close()
