"""The ids of a Marian vocabulary, in their order and in ours."""

from keras_attention.files import parse_object
from keras_attention.vocabulary import SPECIAL_PIECES

UNKNOWN, END, PADDING = "<unk>", "</s>", "<pad>"


class MarianVocabulary:
    """What `vocab.json` of a Hugging Face Marian folder says.

    Marian starts a target with its padding, so its one piece becomes two of ours.

    Args:
        content: bytes of the file: a JSON object, piece -> id.

    Raises:
        ValueError: something else, ids that are not 0, 1, 2, ..., or one of the
            special pieces `<unk>`, `</s>` and `<pad>` is missing.

    Example:

    >>> vocabulary = MarianVocabulary(b'{"</s>": 0, "<unk>": 1, "a": 2, "<pad>": 3}')
    >>> vocabulary.pieces, vocabulary.rows
    (['[PAD]', '[UNK]', '[START]', '[END]', 'a'], [3, 1, 3, 0, 2])
    """

    def __init__(self, content):
        self.ids = _parse(content)
        special = [self.ids[piece] for piece in (PADDING, UNKNOWN, PADDING, END)]
        spelled = {number: piece for piece, number in self.ids.items()}
        others = [number for number in sorted(spelled) if number not in special]
        self.rows = special + others  # their id of each of ours
        self.pieces = [*SPECIAL_PIECES, *(spelled[number] for number in others)]


def _parse(content):
    try:
        ids = parse_object(content)
    except ValueError as error:
        raise ValueError(
            f"vocab.json must be a JSON object. Received: {error}. Copy the file anew."
        ) from error
    numbers = list(ids.values())
    whole = all(type(number) is int for number in numbers)
    if not whole or sorted(numbers) != list(range(len(numbers))):
        raise ValueError(
            "vocab.json must map every piece to an id of its own, 0, 1, 2 and so on. "
            f"Received: {str(ids)[:80]!r}. Copy the file anew."
        )
    missing = [piece for piece in (UNKNOWN, END, PADDING) if piece not in ids]
    if missing:
        raise ValueError(
            f"vocab.json must hold {UNKNOWN}, {END} and {PADDING}. Received: no "
            f"{', '.join(missing)}. Only vocabularies of Marian can be converted."
        )
    return ids
