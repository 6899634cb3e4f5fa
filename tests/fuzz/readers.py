"""The readers of the package that read files, and what each of them may answer.

A reader makes its files, `read` returns what the product reads of them, and `wrong`
says what is wrong with that, "" for nothing. Where damage cannot be seen, because any
text is a corpus, an answer is right if it is what an independent reading gives.
"""

import gzip
import json
import pathlib
import re
import warnings

import numpy as np

from tests.fuzz.damage import damage_place, damaged, damaged_gzip, damaged_json

LINES = ["the dog runs .", "die Katze schläft .", "", "a (b) \u2028 c", "x " * 40] * 3
TREES = [
    "( (S (NP-SBJ (DT the) (NN dog)) (VP (VBZ barks)) (. .)) )",
    "(TOP (S (NP (NNP Rex)) (VP (VBD ran)\n  (PP (IN to) (NP (-LRB- -LRB-) (NN x))))))",
]
PARAMETERS = """\
# a comment
DEBUG 0
MAX_ERROR 10
CUTOFF_LEN 40
LABELED 1
DELETE_LABEL TOP
DELETE_LABEL_FOR_LENGTH -NONE-
QUOTE_LABEL ``
EQ_LABEL ADVP PRT
EQ_WORD one two
"""


class Reader:
    """Of text that nothing protects; subclasses say more.

    Attributes:
        files: the names of the files that are damaged.
        share: of JSON files, how many are damaged as JSON.
    """

    files: tuple = ()
    share = 0.7

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.folder.mkdir(parents=True, exist_ok=True)
        self.make()
        self.clean = {name: (self.folder / name).read_bytes() for name in self.files}
        self.right = self.read()

    def make(self):
        raise NotImplementedError

    def read(self):
        raise NotImplementedError

    def wrong(self, answer):
        return "" if answer == self.right else "another answer"

    def damage(self, random):
        """Damages one of the files; returns its name."""
        name = random.choice(self.files)
        path = self.folder / name
        if not damage_place(path, random):
            path.write_bytes(self.content(name, random))
        return name

    def content(self, name, random):
        clean = self.clean[name]
        if name.endswith(".json") and random.random() < self.share:
            return damaged_json(clean, random)
        return damaged(clean, random)

    def restore(self, name):
        path = self.folder / name
        if path.is_dir() and not path.is_symlink():
            path.rmdir()
        elif path.is_symlink():
            path.unlink()
        path.write_bytes(self.clean[name])

    def bytes_of(self, name):
        path = self.folder / name
        return path.read_bytes() if path.is_file() else b""


def plain_lines(content):
    """Lines of a text as the documentation says, in other words than the product."""
    if content.startswith(b"\xef\xbb\xbf"):
        content = content[3:]
    lines = content.split(b"\n")
    if lines[-1] == b"":
        lines.pop()
    texts = [line.removesuffix(b"\r").decode("utf-8", "replace") for line in lines]
    return [text.replace("\r", " ") for text in texts]


class Corpora(Reader):
    files = ("source", "target")

    def make(self):
        for name in self.files:
            self.pack(name, "".join(f"{line}\n" for line in LINES).encode())

    def pack(self, name, content):
        (self.folder / name).write_bytes(content)

    def unpacked(self, name):
        return self.bytes_of(name)

    def read(self):
        from keras_attention.data import ParallelFiles, read_pairs

        paths = [self.folder / name for name in self.files]
        corpus = read_pairs(*paths)
        blocks = list(ParallelFiles(*paths).blocks())
        streamed = [sum((block[side] for block in blocks), []) for side in (0, 1)]
        if [corpus.sources, corpus.targets] != streamed:
            raise AssertionError("in memory and from files differ")
        return corpus.sources, corpus.targets

    def wrong(self, answer):
        sides = [plain_lines(self.unpacked(name)) for name in self.files]
        pairs = [p for p in zip(*sides, strict=True) if all(x.strip() for x in p)]
        return "" if list(zip(*answer, strict=True)) == pairs else "other pairs"


class PackedCorpora(Corpora):
    files = ("source.gz", "target.gz")

    def pack(self, name, content):
        (self.folder / name).write_bytes(gzip.compress(content, mtime=0))

    def unpacked(self, name):
        return gzip.decompress(self.bytes_of(name))

    def content(self, name, random):
        return damaged_gzip(gzip.decompress(self.clean[name]), random)


class Trees(Reader):
    files = ("trees",)

    def make(self):
        (self.folder / "trees").write_text("\n".join(TREES * 2) + "\n")

    def content(self, name, random):
        if random.random() < 0.1:
            depth = random.choice((10, 5_000))
            return b"(S " * depth + b"x" + b")" * random.choice((depth, depth - 1, 0))
        return super().content(name, random)

    def read(self):
        from keras_attention.data.tree_corpora import tree_pair
        from keras_attention.data.trees import read_trees

        trees = read_trees(self.folder / "trees")
        for tree in trees:
            sentence, symbols = tree_pair(tree)
            if bool(sentence) != bool(symbols):
                raise AssertionError("words without a tree")
        return [str(tree) for tree in trees]

    def wrong(self, answer):
        text = "\n".join(plain_lines(self.bytes_of("trees")))
        # The same symbols in the same order; a bracket as a word is spelled out.
        for raw, name in (("(", "-LRB-"), (")", "-RRB-")):
            text = re.sub(rf"\((-[LR]RB-)[ \t\n\r\f\v]+\{raw}\)", rf"(\1 {name})", text)
        expected = re.sub(r"[ \t\n\r\f\v]+", "", text)
        return "" if "".join(answer).replace(" ", "") == expected else "other trees"


class Parameters(Reader):
    files = ("parameters",)

    def make(self):
        (self.folder / "parameters").write_text(PARAMETERS)

    def read(self):
        from keras_attention.evaluation.evalb_parameters import read_evalb_parameters

        return read_evalb_parameters(self.folder / "parameters")

    def wrong(self, answer):
        text = self.bytes_of("parameters").decode()
        rows = [line.split() for line in re.split(r"\r\n|\n|\r", text)]
        rows = [row for row in rows if row and not row[0].startswith("#")]
        told = [r[1] for r in rows if r[0] == "DELETE_LABEL"]
        cut = [int(r[1]) for r in rows if r[0] == "CUTOFF_LEN"] or [40]
        same = answer.deleted_labels == tuple(told) and answer.cutoff_length == cut[-1]
        return "" if same else f"other parameters, {answer}"


class Encoded(Reader):
    """Ids of a corpus on disk; damaged ones are made anew, with a warning."""

    def __init__(self, folder):
        from keras_attention.data import ParallelFiles, SubwordTokenizer

        self.folder = pathlib.Path(folder)
        self.folder.mkdir(parents=True, exist_ok=True)
        for name in ("s", "t"):
            (self.folder / name).write_text("a b c\n\nb c d e f\nd e\n" * 9)
        self.corpus = ParallelFiles(self.folder / "s", self.folder / "t")
        self.tokenizer = SubwordTokenizer.learn_from_lines(
            ["a b c d e f"] * 2, 18, kind="wordpiece"
        )
        self.read()
        place = next((self.folder / "ids").iterdir())
        self.files = tuple(
            str(path.relative_to(self.folder)) for path in sorted(place.iterdir())
        )
        super().__init__(folder)

    def make(self):
        pass

    def read(self):
        from keras_attention.data import encode_files

        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", ".*is damaged; the text is tokenized")
            found = encode_files(self.corpus, self.tokenizer, 4, 4, self.folder / "ids")
        arrays = [found.source_tokens, found.source_offsets, found.numbers]
        arrays += [found.target_tokens, found.target_offsets]
        return [np.array(array).tolist() for array in arrays], found.dropped


class Tokenizer(Reader):
    """A saved tokenizer; whatever is changed, the answer is its own or none."""

    kind, model, size, symbols = "bpe", "sentencepiece.model", 44, ()

    @property
    def files(self):
        return ("tokenizer.json", self.model)

    def make(self):
        from keras_attention.data import SubwordTokenizer

        lines = ["to be or not to be", "that is the question"]
        SubwordTokenizer.learn_from_lines(
            lines, self.size, self.kind, symbols=self.symbols
        ).save(self.folder)

    def read(self):
        from keras_attention.data import SubwordTokenizer

        found = SubwordTokenizer.load(self.folder)
        return found.kind, found.pieces[: found.vocabulary_size - len(found.symbols)]

    def wrong(self, answer):
        config = json.loads(self.bytes_of("tokenizer.json"))
        same = answer == self.right and config["kind"] == self.kind
        return "" if same else "another tokenizer"


class WordPieces(Tokenizer):
    kind, model, size = "wordpiece", "wordpiece.vocabulary", 38
    symbols = ("(S", ")S")
