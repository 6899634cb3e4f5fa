"""The lexicon as a dictionary of word forms: English word -> German word."""

from keras_attention.data.grammar import adverbials, nouns, phrases
from keras_attention.data.grammar.verbs import MATRIX_VERBS, VERBS

# Words outside the classes; do is only an auxiliary in the corpus.
_FUNCTION_WORDS = """
the=der a=ein an=ein this=dieser these=diese every=jeder all=alle some=einige
many=viele which=welcher who=wer whom=wen whose=dessen what=was where=wo when=wann
why=warum because=weil although=obwohl if=wenn while=während before=bevor
after=nachdem that=dass whether=ob and=und but=aber not=nicht do= does= did= 's=
am=bin is=ist are=sind was=war were=waren be=sein been=gewesen has=hat have=haben
had=hatte will=wird can=kann could=konnte must=muss may=darf should=sollte want=wollen
wants=will wanted=wollte to=zu of=von in=in at=an on=auf under=unter behind=hinter
next=neben front=vor by=von for=auf with=mit about=über into=in onto=auf from=aus
than=als as=wie more=mehr very=sehr too=zu order=um home=Hause ago=vor today=heute
now=jetzt yesterday=gestern tomorrow=morgen soon=bald last=letzte day=Tag week=Woche
month=Monat year=Jahr days=Tage weeks=Wochen months=Monate years=Jahre
morning=Morgen afternoon=Nachmittag evening=Abend up=auf asleep=ein on=an off=aus
away=weg back=zurück part=Teil care=Sorge
"""


def _verb_forms(verb):
    infinitive = verb.prefix + verb.infinitive
    yield verb.english_participle, verb.participle
    yield verb.english_past, verb.past
    yield verb.english_third, verb.third
    yield verb.english, infinitive


def _dictionary():
    words = {}
    for verb in (*VERBS, *(verb for group in MATRIX_VERBS.values() for verb in group)):
        for english, german in _verb_forms(verb):
            words.setdefault(english, german)
    for group in nouns.ADJECTIVES.values():
        for adjective in group:
            words[adjective.english] = adjective.german
            if adjective.comparative:
                degrees = nouns.english_degrees(adjective.english)
                if degrees:
                    words[degrees[0]] = adjective.comparative
                    words[degrees[1]] = adjective.superlative + "e"
    for group in nouns.NOUNS.values():
        for noun in group:
            words[noun.english] = noun.nominative
            words[noun.plural] = noun.german_plural
    for subject, obj, _, _, german in phrases.PRONOUNS.values():
        nominative, accusative, *_ = german.split()
        words[obj], words[subject] = accusative, nominative
    words |= phrases.POSSESSIVES | nouns.NUMBERS | nouns.CITIES | adverbials.DAYS
    words |= adverbials.ADVERBS | adverbials.MANNER_ADVERBS["m"]
    words |= adverbials.MANNER_ADVERBS["l"]
    words |= dict(item.split("=") for item in _FUNCTION_WORDS.split())
    words |= {word: word for word in nouns.NAMES} | {mark: mark for mark in ",.?!"}
    return words


DICTIONARY = _dictionary()
