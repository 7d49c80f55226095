"""The part of the corpus that a conversation belongs to: by its id alone, so that new data moves nothing.

Vectors are kept in a fixed number of stores, and the work is cut into any number of shards. A store
belongs to one shard at a time. So no two jobs write to one file, and another number of shards reuses all
vectors that were computed before.
"""

import hashlib

N_STORES = 64


def store_of(conversation_id: str) -> int:
    """The store that keeps a conversation's vector: 0 to `N_STORES` - 1."""
    digest = hashlib.sha256(conversation_id.encode("utf-8", "surrogatepass")).digest()
    return int.from_bytes(digest[:8], "big") % N_STORES


def shard_of(conversation_id: str, n_shards: int) -> int:
    """The shard that embeds a conversation: 0 to `n_shards` - 1.

    Raises:
        ValueError: `n_shards` is not between 1 and `N_STORES`.
    """
    if not 1 <= n_shards <= N_STORES:
        raise ValueError(f"n_shards must be between 1 and {N_STORES}, not {n_shards}")
    return store_of(conversation_id) % n_shards
