"""SavedModels for TensorFlow Serving, and models for the engine CTranslate2."""

from keras_attention.export.allowed_ops import check_ops
from keras_attention.export.ctranslate2 import export_ctranslate2
from keras_attention.export.guard import (
    check_restored,
    check_self_contained,
    unfilled_resources,
)
from keras_attention.export.saved_model import export_saved_model
from keras_attention.export.translation_module import TranslationModule
from keras_attention.export.verify import VerificationReport, verify_saved_model

__all__ = [
    "TranslationModule",
    "VerificationReport",
    "check_ops",
    "check_restored",
    "check_self_contained",
    "export_ctranslate2",
    "export_saved_model",
    "unfilled_resources",
    "verify_saved_model",
]
