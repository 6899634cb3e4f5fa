"""Reads damaged files in a process of its own, with bounded memory and time.

    python -m tests.fuzz.child READER FIRST_SEED COUNT FOLDER

Writes a line of JSON to FOLDER/results.jsonl before it reads and one behind, so that
the seed is known of what killed it.
"""

import faulthandler
import json
import pathlib
import random
import resource
import shutil
import sys

from tests.fuzz.binary_readers import READERS
from tests.fuzz.campaign import shown
from tests.fuzz.outcomes import outcome

MORE_BYTES = 3 << 30  # of addresses, beside those taken when the reader is made
SECONDS = 300  # of one file, on a busy machine


def main(name, first, count, folder):
    folder = pathlib.Path(folder)
    shutil.rmtree(folder / "place", ignore_errors=True)  # of one that was killed
    reader = READERS[name](folder / "place")
    pages = int(pathlib.Path("/proc/self/statm").read_text().split()[0])
    limit = pages * resource.getpagesize() + MORE_BYTES
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    with open(folder / "results.jsonl", "a", encoding="utf-8") as results:

        def tell(**values):
            results.write(json.dumps(values) + "\n")
            results.flush()

        for seed in range(first, first + count):
            tell(begins=seed)
            faulthandler.dump_traceback_later(SECONDS, exit=True)
            damaged = reader.damage(random.Random(f"{name} {seed}"))
            found, problem = outcome(reader)
            faulthandler.cancel_dump_traceback_later()
            content = shown(reader.bytes_of(damaged)) if problem else ""
            tell(seed=seed, file=damaged, found=found, problem=problem, input=content)
            reader.restore(damaged)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4])
