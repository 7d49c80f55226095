"""Secrets are masked in every form, other words are left alone, and keys are known by their form."""

import pytest

from fieldwork.errors import StudyError
from fieldwork.masking import (
    MASK_TEXT,
    Mask,
    address_secrets,
    environment_key,
    environment_secrets,
    has_key_form,
    header_secrets,
    is_secret_header,
    without_keys,
)

KEY = "sk-0123456789abcdef"


@pytest.mark.parametrize(
    ("secret", "text", "masked"),
    [
        (KEY, f"you sent {KEY}, {KEY}", f"you sent {MASK_TEXT}, {MASK_TEXT}"),
        ('a"b/c d', r"a\"b/c d, a\"b\/c d", f"{MASK_TEXT}, {MASK_TEXT}"),
        ('a"b/c d', r"a\\\"b\\/c d", MASK_TEXT),
        ('a"b/c d', "a%22b/c%20d, a%22b%2Fc%20d", f"{MASK_TEXT}, {MASK_TEXT}"),
        (
            "schlüssel",
            "schlüssel, schl\\u00fcssel, schl%C3%BCssel",
            f"{MASK_TEXT}, {MASK_TEXT}, {MASK_TEXT}",
        ),
        ("m", "me", f"{MASK_TEXT}e"),
        (KEY, "nothing of it \ud800", "nothing of it \ud800"),
    ],
)
def test_a_secret_is_masked_in_every_form(secret: str, text: str, masked: str) -> None:
    mask = Mask([secret])
    assert mask.text(text) == masked
    assert mask.line(f" {text}\n") == masked
    raw = text.encode("utf-8", "surrogatepass")
    assert mask.raw(raw) == masked.encode("utf-8", "surrogatepass")


@pytest.mark.parametrize(
    "repeat",
    [
        r"KEY\u002Bwith/signs\u003D\u003D9",
        r"KEY\u002bwith\/signs\u003d\u003d9",
        r"KEY\\u002Bwith\\/signs==9",
        "".join(rf"\u{ord(letter):04X}" for letter in "KEY+with/signs==9"),
    ],
)
def test_a_reply_that_gives_letters_by_their_codes_is_masked(repeat: str) -> None:
    mask = Mask(["KEY+with/signs==9", "short"])
    raw = rf'{{"text": "1. caf\u00e9 {repeat} \u003c"}}'.encode()
    masked = mask.reply(raw)
    assert MASK_TEXT.encode() in masked
    assert len(masked) == len(raw) - len(repeat) + len(MASK_TEXT)
    assert mask.reply(rb'{"text": "\u003c KEY \u00e9"}') == rb'{"text": "\u003c KEY \u00e9"}'


def test_headers_that_hold_secrets_are_known_by_their_names() -> None:
    for name in ("Authorization", "x-goog-api-key", "CF-Access-Client-Secret", "api_key"):
        assert is_secret_header(name), name
        assert header_secrets({name: f"Bearer {KEY}"}) == [f"Bearer {KEY}", KEY]
    for name in ("X-Author", "X-Keyboard", "OpenAI-Organization"):
        assert not is_secret_header(name), name
        assert header_secrets({name: f"Bearer {KEY}"}) == []


def test_passwords_in_addresses() -> None:
    secrets = ["w%20rd", "w rd", "bWU6dyByZA=="]
    assert address_secrets("http://me:w%20rd@host:1") == secrets
    for address in ("http://me@host", "http://host", "http://[host", None):
        assert address_secrets(address) == []


def test_secrets_of_the_environment_are_known_by_their_names() -> None:
    environment = {
        "OPENAI_API_KEY": f" {KEY}\n", "HF_TOKEN": "short", "KEYBOARD": "0123456789",
        "https_proxy": "http://me:hidden@host", "no_proxy": "*", "PASSWORD": "p" * 9,
        "HF_ENDPOINT": "https://me:other@mirror", "EMAIL": "me@example.org",
    }  # fmt: skip
    secrets = environment_secrets(environment)
    assert {KEY, "hidden", "other", "p" * 9} <= set(secrets)
    assert not {"short", "0123456789", "me@example.org"} & set(secrets)


@pytest.mark.parametrize(
    ("text", "is_key"),
    [
        ("sk-proj-0123456789abcdefABCDEF", True),
        ("my key is AIzaSy0123456789abcdefABCDEF0123456789", True),
        ("Bearer abcdef0123456789", True),
        ("sk-learn-and-its-neighbours", False),
        ("hf_conversations_of_one_year", False),
        ("hf_datasets_2026_english_only", False),
        ("c30699e8356da336a370243923dbaf21066bb9fe", False),
        ("Bearer of good news everywhere", False),
        ("task-0123456789abcdef0123", False),
    ],
)
def test_keys_are_known_by_their_form(text: str, is_key: bool) -> None:
    assert has_key_form(text) == is_key
    assert (MASK_TEXT in without_keys(text)) == is_key


def test_a_key_of_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for written, key in ((f"{KEY}\r\n", KEY), (" ", None)):
        monkeypatch.setenv("A_KEY", written)
        assert environment_key("A_KEY") == key
    monkeypatch.setenv("A_KEY", "a\nb")
    with pytest.raises(StudyError, match="variable A_KEY, named by x, holds a line") as caught:
        environment_key("A_KEY", "x")
    assert "a\nb" not in str(caught.value)
