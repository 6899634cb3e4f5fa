"""No tested or allowed version is one with an advisory that is known here.

`pip-audit -r constraints.txt --no-deps` asks for what has become known since; it needs
a network, which tests do not.
"""

import pytest
from packaging.requirements import Requirement
from packaging.version import Version

from tests.architecture.test_packaging import REQUIREMENTS, TESTED

# package -> {advisory: the first version without it}
FIXED = {
    "keras": {
        "CVE-2025-1550": "3.9.0",
        "CVE-2025-8747": "3.11.0",
        "CVE-2025-9905": "3.11.3",
        "CVE-2025-9906": "3.11.0",
        "CVE-2025-49655": "3.11.3",
        "CVE-2025-12058": "3.12.0",
        "CVE-2025-12060": "3.12.0",
        "CVE-2026-1462": "3.13.2",
        "CVE-2026-1669": "3.13.2",
    },
    "sentencepiece": {"CVE-2026-1260": "0.2.1"},
    "requests": {"CVE-2024-35195": "2.32.0", "CVE-2024-47081": "2.32.4"},
    "urllib3": {
        "CVE-2025-50181": "2.5.0",
        "CVE-2025-66418": "2.6.0",
        "CVE-2025-66471": "2.6.0",
    },
    "protobuf": {"CVE-2025-4565": "6.31.1"},
    "pillow": {"CVE-2025-48379": "11.3.0", "CVE-2026-25990": "12.1.1"},
    "fonttools": {"CVE-2023-45139": "4.43.0", "CVE-2025-66034": "4.60.2"},
    "Werkzeug": {"CVE-2025-66221": "3.1.4", "CVE-2026-21860": "3.1.5"},
    "Jinja2": {"CVE-2025-27516": "3.1.6"},
    "h11": {"CVE-2025-43859": "0.16.0"},
    "starlette": {"CVE-2025-54121": "0.47.2", "CVE-2025-62727": "0.49.1"},
    "idna": {"CVE-2024-3651": "3.7"},
}
PINNED = {name.lower(): version for name, version in TESTED.items()}
RANGES = {x.name.lower(): x.specifier for x in map(Requirement, REQUIREMENTS)}


@pytest.mark.parametrize("name", FIXED)
def test_the_tested_version_has_none(name):
    last = max(map(Version, FIXED[name].values()))
    assert Version(PINNED[name.lower()]) >= last


@pytest.mark.parametrize("name", [name for name in FIXED if name.lower() in RANGES])
def test_no_allowed_version_has_one(name):
    for version in FIXED[name].values():
        before = version.split(".")
        before[-1] = f"{int(before[-1]) - 1}" if before[-1] != "0" else "0rc1"
        allowed = RANGES[name.lower()].contains(".".join(before), prereleases=True)
        assert not allowed, (name, version)
