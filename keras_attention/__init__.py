"""keras_attention: "Attention Is All You Need" as Keras 3 layers, training and serving."""

__version__ = "0.1.0"
