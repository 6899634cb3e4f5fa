"""Draws noun phrases, places and goals that select, agree and make sense."""

from keras_attention.data.grammar import adverbials, nouns, phrases

PERSONS = ("person", "kin")


class NoSentenceError(Exception):
    """The draw cannot be completed; the next one may."""


class NominalSampler:
    """Draws the parts of one sentence; no noun or name occurs twice."""

    def __init__(self, rng):
        self.rng = rng
        self.used = set()
        self.used_verbs = set()
        self.subjects = []

    def chance(self, probability):
        return self.rng.random() < probability

    def noun(self, classes):
        """A noun of one of the classes that the sentence has not used."""
        for _ in range(20):
            noun = self.rng.choice(nouns.NOUNS[self.rng.choice(classes)])
            if noun.english not in self.used:
                self.used.add(noun.english)
                return noun
        raise NoSentenceError

    def name(self):
        names = [word for word in nouns.NAMES if word not in self.used]
        word = self.rng.choice(names)
        self.used.add(word)
        return phrases.name(word)

    def pronoun(self, is_subject):
        """A pronoun; an object is never the person of the subject."""
        choices = ("I", "you", "he", "she", "we", "they")
        taken = {phrases.PRONOUNS[key][2] for key in self.subjects}
        choices = [
            key
            for key in choices
            if phrases.PRONOUNS[key][2] == 3 or phrases.PRONOUNS[key][2] not in taken
        ]
        if is_subject:
            choices = [key for key in ("I", "you", "he", "she", "we", "they")]
        key = self.rng.choice(choices)
        if is_subject:
            self.subjects.append(key)
        return phrases.pronoun(key)

    def _adjectives(self, noun, determiner):
        adjectives = nouns.ADJECTIVES[noun.noun_class]
        if not self.chance(0.24):
            return ()
        adjective = self.rng.choice(adjectives)
        if determiner == "the" and adjective.comparative and self.chance(0.25):
            if nouns.english_degrees(adjective.english):
                degree = "superlative" if self.chance(0.7) else "comparative"
                return ((adjective, degree),)
        return ((adjective, ""),)

    def _determiner(self, noun, is_subject):
        """(determiner, is_plural)"""
        rng = self.rng
        if noun.is_mass:
            return rng.choice(("the", "bare", "bare", "my", "her")), False
        if noun.noun_class == "kin":
            plural = noun.english in ("brother", "sister", "friend", "son", "daughter")
            return rng.choice(tuple(phrases.POSSESSIVES)), plural and self.chance(0.25)
        if noun.noun_class in ("text", "flat", "thing", "clothes", "vehicle", "animal"):
            if self.chance(0.15):
                return rng.choice(tuple(phrases.POSSESSIVES)), self.chance(0.2)
        if not self.chance(0.27):
            choices = ("the", "the", "the", "the", "a", "a", "this")
            if is_subject and self.chance(0.1):
                return "every", False
            return rng.choice(choices), False
        choices = (
            "the",
            "the",
            "the",
            "number",
            "number",
            "these",
            "many",
            "some",
            "all",
        )
        choice = rng.choice(choices + (() if is_subject else ("bare", "bare")))
        return choice.replace("these", "this"), True

    def around(self, noun, is_subject=False, plain=False):
        """A phrase around a noun: determiner, adjectives, number, owner."""
        determiner, is_plural = self._determiner(noun, is_subject)
        while plain and determiner not in ("the", "a", "this", *phrases.POSSESSIVES):
            determiner, is_plural = self._determiner(noun, is_subject)
        number = owner = complement = None
        if determiner == "number":
            number = self.rng.choice(tuple(nouns.NUMBERS))
        owned = noun.noun_class in (
            "kin", "text", "flat", "thing", "clothes", "vehicle", "animal",
        )  # fmt: skip
        if owned and not plain and determiner == "the" and self.chance(0.12):
            owner = self.around(self.noun(("person",)), plain=True)
        elif owned and determiner in ("the", *phrases.POSSESSIVES) and self.chance(0.1):
            determiner, owner = "name", self.name()
        elif noun.noun_class == "person" and not plain:
            complement = self._complement(determiner)
        return phrases.noun_phrase(
            noun,
            determiner,
            is_plural,
            self._adjectives(noun, determiner),
            number,
            owner,
            complement,
        )

    def _complement(self, determiner):
        """from Vienna, or with the red hat"""
        draw = self.rng.random()
        if determiner not in ("the", "a") or draw > 0.07:
            return None
        if draw < 0.035:
            city = self.rng.choice(tuple(nouns.CITIES))
            return (
                f"(PP (IN from) (NP (NNP {city})))",
                ["aus", nouns.CITIES[city]],
            )
        noun = self.noun(("clothes",))
        if noun.english in ("dress", "skirt", "shoe"):
            return None
        adjective = self.rng.choice(nouns.ADJECTIVES["clothes"])
        phrase = phrases.noun_phrase(noun, "the", False, ((adjective, ""),))
        return f"(PP (IN with) {phrase.tree})", ["mit", *phrase.german("d")]

    def phrase(self, classes, is_subject=False, plain=False):
        """A noun phrase, name, pronoun or group of the classes."""
        draw = self.rng.random()
        if "person" in classes or classes == PERSONS:
            if draw < (0.25 if is_subject else 0.15):
                return self.pronoun(is_subject)
            if draw < (0.38 if is_subject else 0.28):
                return self.name()
            if draw > 0.96 and not plain:
                first = self.around(self.noun(("person",)), plain=True)
                second = self.around(self.noun(("person",)), plain=True)
                return phrases.group(first, second)
        return self.around(self.noun(classes), is_subject, plain)

    def place(self, verb, subject):
        """A place adverbial that suits the verb and its subject."""
        word = verb.english
        if word == "live":
            classes = ("building", "outdoors", "city")
        elif word in ("lie", "stand", "sit") and subject.noun_class != "animal":
            classes = ("surface",)
        elif not subject.is_human:
            classes = ("outdoors",)
        else:
            classes = ("outdoors", "building", "room", "spot", "city", "home")
        chosen = self.rng.choice(classes)
        if chosen == "city":
            return adverbials.in_city(self.rng.choice(tuple(nouns.CITIES)))
        if chosen == "home":
            return adverbials.AT_HOME
        only_on = chosen == "surface" and subject.is_human
        return adverbials.at_place(self.rng, self.location((chosen,)), only_on)

    def location(self, classes, determiner=None):
        noun = self.noun(classes)
        if determiner is None:
            determiner = "a" if self.chance(0.15) else "the"
        return phrases.noun_phrase(
            noun, determiner, False, self._adjectives(noun, determiner)
        )

    def goal(self, verb, kind):
        if kind == "city":
            return adverbials.to_city(self.rng.choice(tuple(nouns.CITIES)))
        if kind == "on":
            return adverbials.onto(self.rng, self.location(("surface",)), verb)
        if kind == "in":
            return adverbials.into(self.location(("building", "room", "outdoors")))
        if self.chance(0.2):
            return adverbials.HOME
        if self.chance(0.3):
            return adverbials.to(self.around(self.noun(PERSONS), plain=True))
        return adverbials.to(self.location(("building", "spot", "outdoors"), "the"))
