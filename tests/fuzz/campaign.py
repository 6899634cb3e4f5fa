"""How many inputs a test draws, what became of them, and how one is drawn again.

Every input is made from a seed of its own, so that a failure names all that it takes:
FUZZ_SEED is that of the first input, FUZZ_COUNT the number of inputs of a campaign.
"""

import collections
import os
import time

import pytest

SEED = int(os.environ.get("FUZZ_SEED", "1"))
MOST_SHOWN = 300  # characters of an input in a report


def count(many):
    """Inputs of a campaign."""
    return int(os.environ.get("FUZZ_COUNT", many))


def levels(few, some, many):
    """Parameters of a test: a small count, one for `slow` and one for `campaign`."""
    return [
        pytest.param(few, id="few"),
        pytest.param(some, id="some", marks=pytest.mark.slow),
        pytest.param(count(many), id="many", marks=pytest.mark.campaign),
    ]


def shown(value):
    """An input as Python spells it, cut in the middle."""
    text = value if isinstance(value, str) else repr(value)
    if len(text) <= MOST_SHOWN:
        return text
    half = MOST_SHOWN // 2
    return f"{text[:half]} ... {len(text) - 2 * half} characters ... {text[-half:]}"


class Figures:
    """Counts of a run. Faults are kept, the first few, so that a run goes on.

    Args:
        name: of the run.
        most: faults that are kept.
    """

    def __init__(self, name, most=20):
        self.name, self.most = name, most
        self.counts = collections.Counter()
        self.faults = []
        self._began = time.monotonic()

    def add(self, outcome, number=1):
        self.counts[outcome] += number

    def fault(self, seed, what, value=""):
        """Keeps a fault: what went wrong, and with which seed and input."""
        self.counts["faults"] += 1
        if len(self.faults) < self.most:
            self.faults.append(f"FUZZ_SEED={seed}: {what} {shown(value)}".rstrip())

    def finish(self):
        """Prints the figures; fails with the faults, if there are any."""
        seconds = time.monotonic() - self._began
        told = ", ".join(f"{count} {name}" for name, count in self.counts.most_common())
        print(f"\n{self.name}: {told}; {seconds:.1f} s", flush=True)
        if self.faults:
            report = "\n".join([f"{self.counts['faults']} faults:", *self.faults])
            pytest.fail(report, pytrace=False)
