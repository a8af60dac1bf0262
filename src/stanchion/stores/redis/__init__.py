"""A store in Redis or Valkey, for many hosts: one server-side script carries each batch out."""

from stanchion.stores.redis.store import RedisStore

__all__ = ["RedisStore"]
