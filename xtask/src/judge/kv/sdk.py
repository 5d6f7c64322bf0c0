"""Calls the official Python SDK like its users. Argument: the base URL of the API; the token is in the environment. Prints a line per
failed step, and then the number of steps."""

import sys

from cloudflare import BadRequestError, Cloudflare, NotFoundError

client = Cloudflare(base_url=sys.argv[1], max_retries=0)
account = {"account_id": "0123456789abcdef0123456789abcdef"}
namespaces = client.kv.namespaces
namespace = next(iter(namespaces.list(**account)))
own = {"namespace_id": namespace.id, **account}


def refused(error, call):
    try:
        call()
    except error:
        return True
    return False


def create():
    made = namespaces.create(title="py made", **account)
    namespaces.values.update("a", value=b"1", namespace_id=made.id, **account)
    renamed = namespaces.update(made.id, title="py renamed", **account)
    is_listed = any((one.id, one.title) == (made.id, "py renamed") for one in namespaces.list(**account))
    namespaces.delete(made.id, **account)
    is_gone = refused(NotFoundError, lambda: namespaces.get(made.id, **account))
    return renamed.title == "py renamed" and is_listed and is_gone


def pairs():
    return [{"key": f"py{number}", "value": str(number), "metadata": {"n": number}} for number in range(25)]


STEPS = {
    "namespace": lambda: namespaces.get(namespace.id, **account).title == namespace.title,
    "create": create,
    "taken": lambda: refused(BadRequestError, lambda: namespaces.create(title=namespace.title, **account)),
    "write": lambda: namespaces.values.update("py/ü 1", value=b"hello", metadata='{"z":1}', expiration_ttl=100, **own),
    "read": lambda: namespaces.values.get("py/ü 1", **own).read() == b"hello",
    "metadata": lambda: namespaces.metadata.get("py/ü 1", **own) == {"z": 1},
    "bulk_update": lambda: namespaces.bulk_update(namespace.id, body=pairs(), **account),
    "keys": lambda: len(list(namespaces.keys.list(namespace.id, prefix="py", limit=10, **account))) == 26,
    "bulk_get": lambda: namespaces.bulk_get(namespace.id, keys=["py1", "none"], **account).values == {"py1": "1", "none": None},
    "bulk_delete": lambda: namespaces.bulk_delete(namespace.id, body=["py1", "py2"], **account).successful_key_count == 2,
    "delete": lambda: namespaces.values.delete("py/ü 1", **own),
    "gone": lambda: refused(NotFoundError, lambda: namespaces.values.get("py/ü 1", **own)),
}
for name, step in STEPS.items():
    try:
        if not step():
            print(f"{name}: it came to something else")
    except Exception as error:
        print(f"{name}: {error!r}")
print(len(STEPS))
