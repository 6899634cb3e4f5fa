"""The embedded corpus: determinism, splits, German grammar, trees, symbol tasks."""

import collections
import random
import re

import pytest

from keras_attention.data import synthetic
from keras_attention.data.grammar import nouns, phrases
from keras_attention.data.grammar.nouns import NOUNS
from keras_attention.data.grammar.sentences import HELD_OUT, PATTERNS
from keras_attention.data.grammar.verb_entries import ENTRIES
from keras_attention.data.grammar.verbs import AUXILIARIES, VERBS
from keras_attention.data.synthetic import (
    copy_task,
    reverse_task,
    sort_task,
    source_tokens,
    synthetic_corpus,
    word_by_word,
)

TASKS = (copy_task, reverse_task, sort_task)
FIRST_PAIR = (
    "The journalists are too sick because the girl has opened the old door.",
    "Die Journalisten sind zu krank, weil das Mädchen die alte Tür geöffnet hat.",
)
NOUN = {noun.english: noun for group in NOUNS.values() for noun in group}
VERB = {verb.prefix + verb.infinitive: verb for verb in VERBS}


@pytest.fixture(scope="module")
def corpus():
    return {
        "train": synthetic_corpus("train", 1500),
        "valid": synthetic_corpus("valid", 300),
        "test": synthetic_corpus("test", 500),
    }


@pytest.fixture(scope="module")
def everything(corpus):
    return [example for examples in corpus.values() for example in examples]


def test_same_arguments_give_the_same_pairs():
    assert synthetic_corpus("test", 50, seed=3) == synthetic_corpus("test", 50, seed=3)
    assert synthetic_corpus("test", 50, seed=3) != synthetic_corpus("test", 50, seed=4)


def test_a_shorter_list_begins_a_longer_one():
    assert synthetic_corpus("valid", 60)[:20] == synthetic_corpus("valid", 20)


def test_first_pair_stays_the_same_across_platforms_and_versions(corpus):
    first = corpus["train"][0]
    assert (first.source, first.target) == FIRST_PAIR


def test_sizes_are_exact_and_pairs_distinct(corpus):
    for examples in corpus.values():
        assert len({example.source for example in examples}) == len(examples)
        assert len({example.target for example in examples}) == len(examples)


def test_splits_share_no_source_and_no_target_under_any_seed(corpus):
    other = {split: synthetic_corpus(split, 200, seed=9) for split in corpus}
    sides = {
        split: {
            text
            for example in corpus[split] + other[split]
            for text in (example.source, example.target)
        }
        for split in corpus
    }
    assert not sides["train"] & sides["valid"]
    assert not sides["train"] & sides["test"]
    assert not sides["valid"] & sides["test"]


def test_an_english_sentence_has_one_translation():
    draws = synthetic._draws(random.Random(2), PATTERNS)
    translations = {}
    for _, example in zip(range(5000), draws, strict=False):
        target = translations.setdefault(example.source, example.target)
        assert target == example.target, example


def test_held_out_sentences_combine_what_training_never_combines(corpus):
    trained = {example.pattern for example in corpus["train"]}
    novel = [example for example in corpus["test"] if example.novel]
    assert 0.10 <= len(novel) / len(corpus["test"]) <= 0.20
    assert not {example.pattern for example in novel} & trained
    assert not any(example.novel for example in corpus["train"] + corpus["valid"])


def test_each_half_of_a_novel_combination_is_trained(corpus):
    trained = {
        (pattern.construction, position, kind)
        for pattern in PATTERNS
        if not pattern.is_novel
        for position, kind in enumerate(pattern.kinds)
    }
    assert not trained & HELD_OUT
    for construction, _, kind in HELD_OUT:
        assert any(construction == known[0] for known in trained)
        assert any(kind == known[2] for known in trained)


def test_more_than_a_million_distinct_pairs_are_possible():
    """Birthday estimate: n draws of N equally likely pairs repeat n^2 / 2N times;
    unequal probabilities repeat more often, so this is a lower bound."""
    draws = synthetic._draws(random.Random(5), PATTERNS)
    drawn = [example.source for _, example in zip(range(8000), draws, strict=False)]
    # Repeats are short commands and statements: leave them out as well.
    long = [text for text in drawn if len(source_tokens(text)) >= 8]
    repeats = len(long) - len(set(long))
    assert len(long) ** 2 / (2 * max(repeats, 1)) > 1e6


def test_lengths_and_vocabularies_are_moderate(corpus):
    lengths = [len(source_tokens(example.source)) for example in corpus["train"]]
    assert min(lengths) >= 4 and max(lengths) <= 17
    assert 9 <= sum(lengths) / len(lengths) <= 11
    for side in ("source", "target"):
        words = {
            word
            for example in corpus["train"]
            for word in source_tokens(getattr(example, side))
        }
        assert 700 <= len(words) <= 2200


def test_word_by_word_is_a_weak_baseline(corpus):
    sacrebleu = pytest.importorskip("sacrebleu")
    hypotheses = [word_by_word(example.source) for example in corpus["test"]]
    references = [[example.target for example in corpus["test"]]]
    assert 5 < sacrebleu.corpus_bleu(hypotheses, references).score <= 40


def test_word_by_word_knows_every_word_of_the_corpus(everything):
    for example in everything:
        for token in source_tokens(example.source):
            known = {token, token[0].lower() + token[1:]} & set(synthetic.DICTIONARY)
            assert known, (token, example.source)
    assert word_by_word("") == ""
    assert word_by_word("Zyx!") == "Zyx!"


# --- trees -------------------------------------------------------------------


def parse(text):
    """(label, children) of a bracketed tree; a leaf is a string."""
    tokens = re.findall(r"[()]|[^\s()]+", text)
    position = 0

    def node():
        nonlocal position
        assert tokens[position] == "("
        label, children = tokens[position + 1], []
        position += 2
        while tokens[position] != ")":
            if tokens[position] == "(":
                children.append(node())
            else:
                children.append(tokens[position])
                position += 1
        position += 1
        return label, children

    tree = node()
    assert position == len(tokens)
    return tree


def leaves(tree):
    label, children = tree
    if isinstance(children[0], str):
        return [(label, children[0])]
    return [leaf for child in children for leaf in leaves(child)]


PHRASES = set("TOP S SQ SBARQ SBAR NP VP PP ADJP ADVP PRT WHNP WHPP WHADVP".split())
TAGS = set(
    "DT NN NNS NNP VBZ VBD VBP VB VBN MD IN TO PRP PRP$ POS JJ JJR JJS RB RBR RP CD CC "
    "WP WP$ WDT WRB . ,".split()
)


def labels(tree):
    label, children = tree
    if isinstance(children[0], str):
        return set()
    return {label}.union(*(labels(child) for child in children))


def test_leaves_of_the_tree_are_the_tokens_of_the_sentence(everything):
    for example in everything:
        tree = parse(example.tree)
        words = [word for _, word in leaves(tree)]
        assert words == source_tokens(example.source)
        assert tree[0] == "TOP" and len(tree[1]) == 1
        assert {tag for tag, _ in leaves(tree)} <= TAGS
        assert labels(tree) <= PHRASES


def test_every_tree_ends_in_its_closing_mark(everything):
    for example in everything:
        tag, word = leaves(parse(example.tree))[-1]
        assert tag == "." and word == example.target[-1] == example.source[-1]


def test_a_and_an_follow_the_next_word(everything):
    for example in everything:
        for article, letter in re.findall(r"\b([Aa]n?) (\w)", example.source):
            assert (article.lower() == "an") == (letter in "aeiou"), example.source


# --- German ------------------------------------------------------------------


def german_cells(noun, determiner, adjective=None):
    adjectives = ()
    if adjective:
        found = next(
            item
            for item in nouns.ADJECTIVES[NOUN[noun].noun_class]
            if item.english == adjective
        )
        adjectives = ((found, ""),)
    phrase = phrases.noun_phrase(
        NOUN[noun], determiner, determiner == "number", adjectives, number="two"
    )
    return [" ".join(phrase.german(case)) for case in "nadg"]


@pytest.mark.parametrize(
    "noun, determiner, adjective, expected",
    [
        ("man", "the", "old", "der alte Mann|den alten Mann|dem alten Mann|"
         "des alten Mannes"),
        ("boy", "a", "tired", "ein müder Junge|einen müden Jungen|einem müden Jungen|"
         "eines müden Jungen"),
        ("woman", "my", "tall", "meine große Frau|meine große Frau|meiner großen Frau|"
         "meiner großen Frau"),
        ("house", "this", "dark", "dieses dunkle Haus|dieses dunkle Haus|"
         "diesem dunklen Haus|dieses dunklen Hauses"),
        ("milk", "bare", "cold", "kalte Milch|kalte Milch|kalter Milch|kalter Milch"),
        ("bread", "bare", "fresh", "frisches Brot|frisches Brot|frischem Brot|"
         "frischen Brotes"),
        ("child", "number", "young", "zwei junge Kinder|zwei junge Kinder|"
         "zwei jungen Kindern|zwei junger Kinder"),
        ("car", "our", "expensive", "unser teures Auto|unser teures Auto|"
         "unserem teuren Auto|unseres teuren Autos"),
        ("soldier", "the", None, "der Soldat|den Soldaten|dem Soldaten|des Soldaten"),
    ],
)  # fmt: skip
def test_declension(noun, determiner, adjective, expected):
    assert german_cells(noun, determiner, adjective) == expected.split("|")


@pytest.mark.parametrize(
    "infinitive, forms",
    [
        ("lesen", "lese liest liest lesen las lasen"),
        ("einladen", "lade lädst lädt laden lud luden"),
        ("lächeln", "lächle lächelst lächelt lächeln lächelte lächelten"),
        ("warten", "warte wartest wartet warten wartete warteten"),
        ("schließen", "schließe schließt schließt schließen schloss schlossen"),
        ("füttern", "füttere fütterst füttert füttern fütterte fütterten"),
    ],
)
def test_conjugation(infinitive, forms):
    verb = VERB[infinitive]
    first, second, third, plural, past, past_plural = forms.split()
    assert list(verb.present.values()) == [first, second, third, plural, plural]
    assert verb.preterite[3, False] == past
    assert verb.preterite[3, True] == past_plural


@pytest.mark.parametrize(
    "infinitive, imperative",
    [("lesen", "lies"), ("geben", "gib"), ("tragen", "trag"), ("warten", "warte"),
     ("reparieren", "repariere"), ("öffnen", "öffne"), ("danken", "danke"),
     ("wegwerfen", "wirf"), ("vergessen", "vergiss"), ("füttern", "füttere"),
     ("begrüßen", "begrüße"), ("kaufen", "kauf"), ("schließen", "schließ"),
     ("lächeln", "lächle")],
)  # fmt: skip
def test_imperative(infinitive, imperative):
    assert VERB[infinitive].imperative == imperative


def test_separable_infinitive_with_zu():
    assert VERB["anrufen"].zu_infinitive == ["anzurufen"]
    assert VERB["helfen"].zu_infinitive == ["zu", "helfen"]


def test_adjective_without_degree_in_er_is_refused():
    famous = next(a for a in nouns.ADJECTIVES["person"] if a.english == "famous")
    with pytest.raises(ValueError, match=r"(?s)-er and -est.*Received: 'famous'.*more"):
        phrases.noun_phrase(NOUN["man"], "the", False, ((famous, "superlative"),))


def test_german_is_punctuated_and_capitalised(everything):
    nouns_seen = {
        form
        for noun in NOUN.values()
        for form in (noun.nominative, noun.genitive, noun.german_plural)
        if form != "-"
    }
    lower = {form.lower() for form in nouns_seen}
    homographs = {"junge", "jungen", "schloss"}  # young, closed
    for example in everything:
        text = example.target
        assert text[0].isupper() and text[-1] in ".?!"
        assert not re.search(r",[,.?!]| ,|\s\s|^,", text), text
        assert not set(source_tokens(text)) & (lower - homographs), text


def test_prepositions_are_contracted_except_before_relative_clauses(everything):
    for example in everything:
        for found in re.finditer(r"\b(in|an|zu|von) (dem|der) \w+(,?)", example.target):
            preposition, article, comma = found.groups()
            if article == "der" and preposition != "zu":
                continue
            rest = example.target[found.end() :]
            assert comma or re.match(r" [\wäöüß]+,", rest) or "," in rest, (
                example.target
            )


def finite_forms():
    forms = set()
    for verb in VERBS:
        for table in (verb.present, verb.preterite):
            forms |= {verb.prefix + form for form in table.values()}
    for tables in AUXILIARIES.values():
        forms |= {form for table in tables for form in table.values()}
    return forms


def test_subordinate_clauses_end_in_the_finite_verb(everything):
    """The clause of weil, obwohl and ob, up to a comma or the full stop."""
    forms, seen = finite_forms(), 0
    for example in everything:
        found = re.search(r", (?:weil|obwohl|ob) ([^,.]*)[,.]", example.target)
        if found and " wie " not in found[1] and " als " not in found[1]:
            seen += 1
            assert found[1].split()[-1] in forms, example.target
    assert seen > 60


SENTENCES = {
    "subject-relative": r"^\S.*, (der|die|das|dem|den|denen|dessen|deren|\w+ \w+) ",
    "that": ", dass ",
    "whether": ", ob ",
    "purpose": r", um .*zu",
    "because-first": "^Weil .*, ",
    "question": r"\?$",
    "command": "!$",
    "but": ", aber ",
}


@pytest.mark.parametrize("construction", SENTENCES)
def test_constructions_look_like_german(everything, construction):
    examples = [e for e in everything if e.pattern.startswith(construction + "(")]
    assert len(examples) > 8
    for example in examples:
        assert re.search(SENTENCES[construction], example.target), example


def test_perfect_takes_its_own_auxiliary(everything):
    sein = {verb.participle for verb in VERBS if verb.auxiliary == "sein"}
    haben = {verb.participle for verb in VERBS if verb.auxiliary == "haben"} - sein
    seen = collections.Counter()
    for example in everything:
        if not re.match(r"simple\(perfect\)", example.pattern):
            continue
        words = set(source_tokens(example.target))
        if words & sein:
            seen["sein"] += 1
            assert words & {"bin", "bist", "ist", "sind"}, example.target
        if words & haben and "worden" not in words:
            seen["haben"] += 1
            assert words & {"habe", "hast", "hat", "haben", "Habe"}, example.target
    assert seen["sein"] > 3 and seen["haben"] > 10


def test_every_noun_class_of_a_verb_exists():
    known = set(NOUNS)
    for verb in VERBS:
        assert set(verb.subjects) <= known
        for argument in verb.arguments:
            assert argument.is_goal or set(argument.classes) <= known
    assert ENTRIES.count("\n") > 80


# --- arguments and symbol tasks ------------------------------------------------


def test_unknown_split_and_negative_size_are_refused():
    with pytest.raises(ValueError, match=r"one of .*'train'.*Received: split='dev'"):
        synthetic_corpus("dev", 1)
    with pytest.raises(ValueError, match=r"number of pairs.*Received: size=-1"):
        synthetic_corpus("train", -1)
    assert synthetic_corpus("train", 0) == []


@pytest.mark.parametrize("task", TASKS)
def test_task_rewrites_its_source(task):
    rewrite = {"copy_task": list, "reverse_task": lambda x: x[::-1],
               "sort_task": sorted}[task.__name__]  # fmt: skip
    pairs = task(300, min_length=2, max_length=7)
    assert pairs == task(300, min_length=2, max_length=7)
    assert pairs != task(300, min_length=2, max_length=7, seed=2)
    assert len({source for source, _ in pairs}) == 300
    for source, target in pairs:
        symbols = source.split()
        assert target.split() == rewrite(symbols)
        assert 2 <= len(symbols) <= 7


@pytest.mark.parametrize("task", TASKS)
def test_task_splits_share_nothing(task):
    sides = [
        {text for pair in task(300, split=split) for text in pair}
        for split in synthetic.SPLITS
    ]
    assert not sides[0] & sides[1] and not sides[0] & sides[2]
    assert not sides[1] & sides[2]


@pytest.mark.parametrize("task", TASKS)
def test_task_refuses_what_it_cannot_do(task):
    with pytest.raises(ValueError, match=r"one of .*Received: split='dev'"):
        task(1, split="dev")
    with pytest.raises(ValueError, match=r"(?s)min_length <= max_length.*min_length=3"):
        task(1, min_length=3, max_length=2)
    with pytest.raises(ValueError, match=r"(?s)out of 1 symbols.*Allow longer"):
        task(50, symbols="a", min_length=1, max_length=2)
