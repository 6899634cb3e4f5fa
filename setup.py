"""Packaging of keras_attention; the settings of the tools are in pyproject.toml."""

import pathlib
import re

from setuptools import find_packages, setup

ROOT = pathlib.Path(__file__).parent
VERSION = re.search(
    r'^__version__ = "([^"]+)"$',
    (ROOT / "keras_attention" / "version.py").read_text(encoding="utf-8"),
    re.MULTILINE,
).group(1)

BINARIES = (
    "learn_vocabulary",
    "train_translation",
    "average_checkpoints",
    "evaluate_translation",
    "translate",
    "score",
    "visualize_attention",
    "export_translation",
    "export_ctranslate2",
    "verify_export",
    "request_translation",
    "train_parsing",
    "evaluate_parsing",
    "demo",
    "ablate",
    "paper_parity",
)

setup(
    name="keras-attention",
    version=VERSION,
    description='"Attention Is All You Need" in Keras 3: layers, training, serving',
    long_description=(ROOT / "README.md").read_text(encoding="utf-8"),
    long_description_content_type="text/markdown",
    license="Apache-2.0",
    license_files=["LICENSE"],
    python_requires=">=3.11",
    packages=find_packages(
        include=["keras_attention", "keras_attention.*", "trainers"]
    ),
    package_data={
        "keras_attention": ["py.typed"],
        "keras_attention.evaluation": ["page/*"],
    },
    install_requires=[
        # TensorFlow, its text operations and Keras are tested as one set: the export
        # and the exact update rest on facts of these minor versions.
        "tensorflow>=2.21,<2.22",
        "tensorflow-text>=2.21,<2.22",
        "keras>=3.15,<3.16",  # and read a crafted .keras file unsafely before 3.13.2
        "numpy>=2.0,<3",
        "absl-py>=2.3,<3",
        "sacrebleu>=2.6,<3",
        # Older versions read a crafted model file unsafely (CVE-2026-1260).
        "sentencepiece>=0.2.1,<0.3",
        "tensorflow-datasets>=4.9.9,<5",
        # It prepares no data set without, and asks for it under Python 3.8 only.
        "importlib-resources>=6,<8",
        # TensorFlow no longer brings it. What its tabs read (hyper-parameters, the
        # projector, pictures) is written in its own formats.
        "tensorboard>=2.20,<3",
        "matplotlib>=3.10,<4",
    ],
    extras_require={
        # For `export_ctranslate2` only; the 4.x line keeps its model format.
        "ctranslate2": ["ctranslate2>=4.8,<5"],
        # For `export.client` and `request_translation`: the messages of the server.
        # Older requests hand a password to the wrong host (CVE-2024-47081).
        "client": ["tensorflow-serving-api>=2.21,<2.22", "requests>=2.32.4,<3"],
        # For `convert.load_marian`: the weights of a Hugging Face folder.
        "convert": ["safetensors>=0.6,<1"],
        # For `demo`: its page.
        "demo": ["gradio>=6.31,<7"],
        # For the test of that page in a browser, Chromium of the system.
        "pages": ["gradio>=6.31,<7", "playwright>=1.65,<2"],
        "test": [
            "build>=1.2",
            "ctranslate2>=4.8,<5",
            "hypothesis>=6.100",
            "mypy>=2.0",
            "pytest>=9.0",
            "pytest-xdist>=3.8",
            "requests>=2.32.4,<3",
            "ruff>=0.17",
            "safetensors>=0.6,<1",
            "tensorflow-serving-api>=2.21,<2.22",
        ],
    },
    entry_points={
        "console_scripts": [
            f"ka-{name.replace('_', '-')} = trainers.{name}:run" for name in BINARIES
        ]
    },
    classifiers=[
        "Development Status :: 4 - Beta",
        "Intended Audience :: Science/Research",
        "Programming Language :: Python :: 3.11",
        "Topic :: Scientific/Engineering :: Artificial Intelligence",
    ],
)
