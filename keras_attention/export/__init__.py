"""SavedModels for TensorFlow Serving, and models for the engine CTranslate2."""

from keras_attention.export.ctranslate2 import export_ctranslate2
from keras_attention.export.guard import (
    check_restored,
    check_self_contained,
    unfilled_resources,
)
from keras_attention.export.saved_model import export_saved_model
from keras_attention.export.translation_module import TranslationModule

__all__ = [
    "TranslationModule",
    "check_restored",
    "check_self_contained",
    "export_ctranslate2",
    "export_saved_model",
    "unfilled_resources",
]
