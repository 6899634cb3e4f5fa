"""What the three configurations share: presets and dictionaries."""

import dataclasses

from keras_attention.presets import PRESETS


class Config:
    """A frozen dataclass that checks itself; `_part` names its part of a preset."""

    _part = ""

    def _check(self, check, *fields, **options):
        for field in fields:
            check(field, getattr(self, field), **options)

    @classmethod
    def from_preset(cls, name, **overrides):
        """Returns the configuration of a preset, with fields replaced by keyword.

        Raises:
            ValueError: an unknown preset or field, or a value that cannot work.
        """
        if name not in PRESETS:
            raise ValueError(
                f"Unknown preset. Expected one of {', '.join(PRESETS)}. "
                f"Received: {name!r}."
            )
        return cls.from_dict({**PRESETS[name][cls._part], **overrides})

    @classmethod
    def from_dict(cls, values):
        """Returns the configuration that `to_dict` wrote; unknown keys are refused."""
        known = [field.name for field in dataclasses.fields(cls)]
        unknown = sorted(set(values) - set(known))
        if unknown:
            raise ValueError(
                f"{cls.__name__} has no field named {', '.join(unknown)}. "
                f"Expected fields among {', '.join(known)}. Received: {sorted(values)}."
            )
        if "vocabulary_size" in known and "vocabulary_size" not in values:
            raise ValueError(
                f"{cls.__name__} needs `vocabulary_size`, the number of pieces of the "
                f"tokenizer (a preset names none). Received: {sorted(values)}."
            )
        return cls(**values)

    def to_dict(self):
        """Returns the fields as a dictionary of plain values (JSON can hold it)."""
        values = dataclasses.asdict(self)
        return {k: list(v) if isinstance(v, tuple) else v for k, v in values.items()}

    def replace(self, **overrides):
        """Returns a copy with some fields replaced, checked anew."""
        return self.from_dict({**self.to_dict(), **overrides})
