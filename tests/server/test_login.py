"""A person with a browser shows the token in a form, once; it is never in an address."""

from __future__ import annotations

import httpx
import pytest
from serving import TOKEN, Running

from plinian.replay.server.login import COOKIE

ABOUT = "/plinian/v1/about"
BROWSER = {"Accept": "text/html,*/*;q=0.8"}


def post(running: Running, **fields: str) -> httpx.Response:
    """Return the answer to the form."""
    own = {"Origin": str(running.client.base_url).rstrip("/")}
    with httpx.Client(base_url=running.client.base_url, timeout=120) as browser:
        return browser.post("/login", data=fields, headers=own)


def test_a_browser_gets_a_form_and_a_program_does_not(protected: Running) -> None:
    page = protected.client.get(ABOUT, headers=BROWSER)
    assert page.status_code == 401
    assert 'action="/login"' in page.text
    assert f'value="{ABOUT}"' in page.text
    assert "default-src 'self'" in page.headers["content-security-policy"]
    plain = protected.client.get(ABOUT)
    assert plain.headers["www-authenticate"] == "Bearer"
    assert "<" not in plain.text


def test_the_right_token_opens_the_page_that_was_asked_for(protected: Running) -> None:
    answer = post(protected, token=f" {TOKEN}\n", next="/@7/queues")
    cookie = answer.headers["set-cookie"]
    assert (answer.status_code, answer.headers["location"]) == (303, "/@7/queues")
    assert {"httponly", "samesite=strict", "path=/"} <= {
        word.strip().lower() for word in cookie.split(";")
    }
    shown = {"Cookie": cookie.partition(";")[0]}
    assert protected.client.get(ABOUT, headers=shown).status_code == 200


@pytest.mark.parametrize("token", ["", "wrong", f"{TOKEN}x", TOKEN.upper(), "ü€", "%00%ff"])
def test_another_token_opens_nothing(protected: Running, token: str) -> None:
    answer = post(protected, token=token, next=ABOUT)
    assert answer.status_code == 401
    assert "set-cookie" not in answer.headers
    assert "This is not the token." in answer.text
    assert TOKEN not in answer.text


@pytest.mark.parametrize(
    "after",
    [
        *("https://evil.example/", "//evil.example", "/\\evil.example", "\\\\evil.example"),
        *("javascript:alert(1)", "/\nhttps://evil.example", "/\x00", "", "/login", "evil"),
        *("http:evil", "/\u202e"),
    ],
)
def test_the_form_leads_to_no_other_site(protected: Running, after: str) -> None:
    assert post(protected, token=TOKEN, next=after).headers["location"] == "/"


def test_what_an_address_holds_is_escaped(protected: Running) -> None:
    page = protected.client.get('/"><script>alert(1)</script>', headers=BROWSER)
    assert "<script>" not in page.text


def test_another_site_cannot_send_the_form(protected: Running) -> None:
    for headers in ({"Origin": "http://evil.example"}, {"Sec-Fetch-Site": "same-site"}):
        answer = protected.client.post("/login", data={"token": TOKEN}, headers=headers)
        assert answer.status_code == 403


def test_a_form_that_is_too_long_is_not_read(protected: Running) -> None:
    assert post(protected, token=TOKEN + " " * 5000).status_code == 401


def test_an_address_with_the_token_is_no_login(protected: Running) -> None:
    for path in (f"/login?token={TOKEN}", f"{ABOUT}?token={TOKEN}"):
        answer = protected.client.get(path, headers=BROWSER)
        assert answer.status_code == 401
        assert COOKIE not in answer.headers.get("set-cookie", "")


def test_without_a_token_there_is_no_form(server: Running) -> None:
    assert server.client.get("/login", headers=BROWSER).status_code == 404
    assert server.client.post("/login", data={"token": TOKEN}).status_code in {404, 405}
