"""Ways in which files are damaged: by a disk, a copy, an editor or somebody's malice.

`damaged` is for any bytes, `damaged_json` for what parses as JSON and means something
else. Both draw from a `random.Random` and from nothing else.
"""

import copy
import gzip
import json

# What stands in the place of a value. Some of it is no JSON, or none that should be.
WRONG = (
    *("null", "true", "0", "-1", "1", "0.5", "-0.0", "1e308", "1e999", "-1e999"),
    *("NaN", "Infinity", "-Infinity", "9" * 30, "9" * 5_000, "1" + "0" * 18),
    *('""', '"x"', '"1"', '"\\ud800"', '"\\u0000"', '"../../etc"', '"' + "x" * 9_999),
    *("[]", "{}", "[[]]", "[null]", '{"a": 1}', '[1, "a", null]', "undefined", "'x'"),
    *("[" * 100_000, "[" * 900 + "]" * 900, "[" * 100_000 + "]" * 100_000),
    *('{"a":' * 50_000, '{"a":' * 50_000 + "1" + "}" * 50_000),
)
ENCODINGS = ("utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-8-sig", "utf-7")
HUGE = (b"\xff" * 8, b"\xff" * 4, b"\xff\xff\xff\x7f", b"\xff" * 7 + b"\x7f", b"\0" * 8)


def _cut(content, random):
    return content[: random.randrange(len(content) + 1)]


def _flip(content, random):
    changed = bytearray(content)
    for _ in range(random.choice((1, 1, 1, 2, 8, 64))):
        changed[random.randrange(len(changed))] ^= 1 << random.randrange(8)
    return bytes(changed)


def _insert(content, random):
    place = random.randrange(len(content) + 1)
    more = random.choice(
        (random.randbytes(random.randrange(1, 40)), b"\0", b"\n", b"\r", b"\xff\xfe")
    )
    return content[:place] + more + content[place:]


def _remove(content, random):
    place = random.randrange(len(content))
    return content[:place] + content[place + random.choice((1, 1, 7, 100)) :]


def _swap(content, random):
    size = random.choice((1, 16, 512))
    one, two = sorted(random.randrange(len(content)) for _ in range(2))
    changed = bytearray(content)
    first, second = bytes(changed[one : one + size]), bytes(changed[two : two + size])
    changed[two : two + size] = first
    changed[one : one + size] = second
    return bytes(changed)


def _zero(content, random):
    place, size = random.randrange(len(content)), random.choice((8, 512, 1 << 20))
    return (
        content[:place] + b"\0" * len(content[place:][:size]) + content[place:][size:]
    )


def _huge(content, random):
    """A number somewhere in it, in a header for example, becomes very large."""
    value = random.choice(HUGE)
    place = random.choice((random.randrange(len(content)), max(0, len(content) - 48)))
    return content[:place] + value + content[place + len(value) :]


def _again(content, random):
    return content * random.choice((2, 3))


def _behind(content, random):
    return content + random.choice((b"\0" * 99, b"rubbish", random.randbytes(99)))


def _noise(content, random):
    return random.randbytes(random.choice((0, 1, 9, len(content), 4096)))


def _encoded(content, random):
    text = content.decode("utf-8", "replace")
    return text.encode(random.choice(ENCODINGS), "replace")


def _line_ends(content, random):
    return content.replace(
        b"\n", random.choice((b"\r", b"\r\n", b"\n\n", b"\x85", b""))
    )


KINDS = (_cut, _flip, _flip, _insert, _remove, _swap, _zero, _huge, _again, _behind)
KINDS += (_noise, _encoded, _line_ends)


def damaged(content, random):
    """Returns other bytes (now and then the same ones)."""
    if not content:
        return _noise(b"x", random)
    return random.choice(KINDS)(content, random)


def _places(value, path=()):
    yield path
    items = value.items() if isinstance(value, dict) else ()
    items = enumerate(value) if isinstance(value, list) else items
    for key, child in items:
        yield from _places(child, (*path, key))


def _parent(value, path):
    for key in path[:-1]:
        value = value[key]
    return value


def damaged_json(content, random):
    """Returns bytes of a JSON text in which one value, or one key, is another."""
    value = json.loads(content)
    path = random.choice(list(_places(value)))
    if not path:
        return random.choice(WRONG).encode()
    changed = copy.deepcopy(value)
    parent, key = _parent(changed, path), path[-1]
    kind = random.randrange(6)
    if kind == 0:
        del parent[key]
    elif kind == 1 and isinstance(parent, dict):
        parent[random.choice(("unknown", "", key.upper(), key + " "))] = parent.pop(key)
    elif kind == 2:  # of another place of the same file
        parent[key] = copy.deepcopy(_at(value, random))
    else:
        parent[key] = mark = f"mark {random.random()}"
        spelled = random.choice(WRONG)
        if kind == 3 and isinstance(parent, dict):  # the key twice
            spelled = f"{json.dumps(_get(value, path))}, {json.dumps(key)}: {spelled}"
        text = json.dumps(changed, indent=2)
        return text.replace(json.dumps(mark), spelled).encode()
    return json.dumps(changed, indent=2).encode()


def _get(value, path):
    for key in path:
        value = value[key]
    return value


def _at(value, random):
    return _get(value, random.choice(list(_places(value))))


def damaged_gzip(content, random):
    """Returns a gzip file of `content` that is cut, has rubbish behind, and so on."""
    whole = gzip.compress(content, mtime=0)
    kind = random.randrange(6)
    if kind == 0:
        return whole + gzip.compress(content[: random.randrange(len(content))], mtime=0)
    if kind == 1:
        return whole + random.choice((b"rubbish", b"\0" * 9, b"\x1f\x8b", whole[:9]))
    if kind == 2:
        return gzip.compress(damaged(content, random), mtime=0)
    if kind == 3:
        return content  # not packed at all
    return damaged(whole, random)


def damage_place(path, random):
    """Puts something else in the place of a file; False if it was not its turn."""
    kind = random.randrange(40)
    if kind > 2:
        return False
    path.unlink()
    if kind == 1:
        path.mkdir()
    elif kind == 2:
        path.symlink_to(path.name)  # to itself
    return True
