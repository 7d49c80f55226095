"""The official SDKs as clients of the loopback server, and the models it has for them."""

import functools
from typing import Any

import openai
from google import genai
from google.genai import types as google_types

from servers.provider import BatchRules, Chat, ModelSpec

KEY = "key-of-the-loopback-test"
PRICES = {
    "gpt-4o": {"input": 2.0, "cached": 1.0, "output": 8.0},
    "gpt-5": {"input": 1.0, "output": 10.0},
    "gpt-5.6": {"input": 4.0, "output": 16.0},
    "gemini-pro": {"input": 1.0, "output": 5.0, "storage": 100.0},
}
SPECS = (
    ModelSpec("gpt-4o"),
    ModelSpec("gpt-5", family="5", reasoning=7),
    ModelSpec("gpt-5.6", family="5.6"),
    ModelSpec("gemini-pro", family="gemini", reasoning=5),
)
QUICK_S = 12.0  # what a batch by `quick_batches` takes
# 16,000 bytes: 4,000 tokens and 4 that open the message
LONG = "All I know. " + "x" * 15_988


def quick_batches() -> BatchRules:
    return BatchRules(validating_s=1.0, running_s=10.0, finalizing_s=1.0)


def client(server: Chat) -> openai.OpenAI:
    return _client(server.base_url)


# making a client takes longer than most tests
@functools.lru_cache(maxsize=1)
def _client(base_url: str) -> openai.OpenAI:
    return openai.OpenAI(base_url=base_url, api_key=KEY, max_retries=0)


def google(server: Chat) -> genai.Client:
    options = google_types.HttpOptions(base_url=server.gemini_url)
    return genai.Client(api_key=KEY, http_options=options)


def ask(server: Chat, question: str, model: str = "gpt-4o", **more: Any) -> Any:
    context = more.pop("context", LONG)
    messages: Any = [{"role": "user", "content": context}] if context else []
    messages.append({"role": "user", "content": question})
    return client(server).chat.completions.create(model=model, messages=messages, **more)


def cached(completion: Any) -> int:
    return int(completion.usage.prompt_tokens_details.cached_tokens)
