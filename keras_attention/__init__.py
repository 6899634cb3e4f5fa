"""keras_attention: "Attention Is All You Need" as Keras 3 layers, trained and served."""

from keras_attention.version import __version__ as __version__
