"""Verbs of the synthetic corpus, English and German.

An entry reads `english past participle [+particle] | german er-form past participle
auxiliary | subjects | arguments | flags`. German infinitives mark a separable prefix
with a hyphen (an-rufen) and a reflexive verb with `sich`. An argument is
`[english preposition>][german preposition+]case:classes`, case a(ccusative) or
d(ative), in the English order. `@in`, `@on` and `@to` are goals of a motion. Flags:
p may add a place, P needs one, v has a passive, s is a state (no adverbials, no
perfect), i has an imperative, m takes an adverb of manner, l one of loudness.
"""

import dataclasses
import functools

from keras_attention.data.grammar.nouns import english_plural

_ENTRIES = """
sleep slept slept|schlafen schläft schlief geschlafen h|person kin animal||p
work worked worked|arbeiten arbeitet arbeitete gearbeitet h|person kin||pi
laugh laughed laughed|lachen lacht lachte gelacht h|person kin||pl
cry cried cried|weinen weint weinte geweint h|person kin||pl
dance danced danced|tanzen tanzt tanzte getanzt h|person kin||pim
sing sang sung|singen singt sang gesungen h|person kin||pil
smile smiled smiled|lächeln lächelt lächelte gelächelt h|person kin||p
cook cooked cooked|kochen kocht kochte gekocht h|person kin||
arrive arrived arrived|an-kommen kommt kam angekommen s|person kin transport||
disappear disappeared disappeared|verschwinden verschwindet verschwand verschwunden s|person animal||
wake woke woken +up|auf-wachen wacht wachte aufgewacht s|person kin animal||
get got gotten +up|auf-stehen steht stand aufgestanden s|person kin||i
fall fell fallen +asleep|ein-schlafen schläft schlief eingeschlafen s|person kin animal||p
rest rested rested|sich aus-ruhen ruht ruhte ausgeruht h|person kin||p
hurry hurried hurried|sich beeilen beeilt beeilte beeilt h|person kin||
live lived lived|wohnen wohnt wohnte gewohnt h|person kin||Ps
read read read|lesen liest las gelesen h|person kin|a:text|pvim
write wrote written|schreiben schreibt schrieb geschrieben h|person kin|a:text|vim
buy bought bought|kaufen kauft kaufte gekauft h|person kin|a:food text thing clothes vehicle flat upright|vi
sell sold sold|verkaufen verkauft verkaufte verkauft h|person kin|a:vehicle clothes device thing|vi
see saw seen|sehen sieht sah gesehen h|person kin|a:person kin animal wild building vehicle|
find found found|finden findet fand gefunden h|person kin|a:flat thing clothes text|pv
lose lost lost|verlieren verliert verlor verloren h|person kin|a:flat thing clothes|v
forget forgot forgotten|vergessen vergisst vergaß vergessen h|person kin|a:flat thing clothes text|v
eat ate eaten|essen isst aß gegessen h|person kin|a:food|pvim
drink drank drunk|trinken trinkt trank getrunken h|person kin|a:drink|pim
love loved loved|lieben liebt liebte geliebt h|person kin|a:person kin animal|s
know knew known|kennen kennt kannte gekannt h|person kin|a:person kin|s
need needed needed|brauchen braucht brauchte gebraucht h|person kin|a:flat thing clothes vehicle device|s
own owned owned|besitzen besitzt besaß besessen h|person kin|a:vehicle device building|s
visit visited visited|besuchen besucht besuchte besucht h|person kin|a:person kin building|vi
greet greeted greeted|begrüßen begrüßt begrüßte begrüßt h|person kin|a:person kin|vi
paint painted painted|malen malt malte gemalt h|person kin|a:person animal wild|vi
carry carried carried|tragen trägt trug getragen h|person kin|a:upright thing|vim
hear heard heard|hören hört hörte gehört h|person kin|a:person kin animal transport|
clean cleaned cleaned|putzen putzt putzte geputzt h|person kin|a:room door vehicle|vim
repair repaired repaired|reparieren repariert reparierte repariert h|person kin|a:vehicle device|vim
open opened opened|öffnen öffnet öffnete geöffnet h|person kin|a:door|vim
close closed closed|schließen schließt schloss geschlossen h|person kin|a:door|vim
wear wore worn|tragen trägt trug getragen h|person kin|a:clothes|
ask asked asked|fragen fragt fragte gefragt h|person kin|a:person kin|vi
describe described described|beschreiben beschreibt beschrieb beschrieben h|person kin|a:person animal building text|vi
destroy destroyed destroyed|zerstören zerstört zerstörte zerstört h|person kin|a:building vehicle device|v
steal stole stolen|stehlen stiehlt stahl gestohlen h|person kin|a:vehicle thing device|v
feed fed fed|füttern füttert fütterte gefüttert h|person kin|a:animal|vim
call called called|an-rufen ruft rief angerufen h|person kin|a:person kin|vi
pick picked picked +up|ab-holen holt holte abgeholt h|person kin|a:person kin|vi
invite invited invited|ein-laden lädt lud eingeladen h|person kin|a:person kin|vi
unpack unpacked unpacked|aus-packen packt packte ausgepackt h|person kin|a:upright|vim
try tried tried +on|an-probieren probiert probierte anprobiert h|person kin|a:clothes|vi
turn turned turned +off|aus-schalten schaltet schaltete ausgeschaltet h|person kin|a:device|vi
turn turned turned +on|ein-schalten schaltet schaltete eingeschaltet h|person kin|a:device|vi
throw threw thrown +away|weg-werfen wirft warf weggeworfen h|person kin|a:text clothes|vi
give gave given +back|zurück-geben gibt gab zurückgegeben h|person kin|a:flat thing text|vi
help helped helped|helfen hilft half geholfen h|person kin|d:person kin|i
thank thanked thanked|danken dankt dankte gedankt h|person kin|d:person kin|i
trust trusted trusted|vertrauen vertraut vertraute vertraut h|person kin|d:person kin|s
follow followed followed|folgen folgt folgte gefolgt s|person animal|d:person kin|im
congratulate congratulated congratulated|gratulieren gratuliert gratulierte gratuliert h|person kin|d:person kin|i
answer answered answered|antworten antwortet antwortete geantwortet h|person kin|d:person kin|il
listen listened listened|zu-hören hört hörte zugehört h|person kin|to>d:person kin|i
wave waved waved|zu-winken winkt winkte zugewinkt h|person kin|to>d:person kin|i
belong belonged belonged|gehören gehört gehörte gehört h|vehicle thing building clothes|to>d:person kin|s
give gave given|geben gibt gab gegeben h|person kin|d:person kin;a:flat thing text food|i
show showed shown|zeigen zeigt zeigte gezeigt h|person kin|d:person kin;a:text thing building|i
send sent sent|schicken schickt schickte geschickt h|person kin|d:person kin;a:text thing|i
bring brought brought|bringen bringt brachte gebracht h|person kin|d:person kin;a:food text thing|i
lend lent lent|leihen leiht lieh geliehen h|person kin|d:person kin;a:vehicle text thing|i
read read read|vor-lesen liest las vorgelesen h|person kin|d:person kin;a:text|i
wait waited waited|warten wartet wartete gewartet h|person kin|for>auf+a:person kin transport|pi
think thought thought|denken denkt dachte gedacht h|person kin|of>an+a:person kin animal building|i
talk talked talked|sprechen spricht sprach gesprochen h|person kin|with>mit+d:person kin|pi
dream dreamed dreamed|träumen träumt träumte geträumt h|person kin|of>von+d:person animal wild vehicle|
laugh laughed laughed|lachen lacht lachte gelacht h|person kin|at>über+a:person kin animal|
complain complained complained|sich beschweren beschwert beschwerte beschwert h|person kin|about>über+a:person kin building|
ask asked asked|bitten bittet bat gebeten h|person kin|a:person kin;for>um+a:drink flat text|i
look looked looked|suchen sucht suchte gesucht h|person kin|for>a:person animal flat thing clothes|p
take took taken +care|sich kümmern kümmert kümmerte gekümmert h|person kin|of>um+a:person kin animal|
remember remembered remembered|sich erinnern erinnert erinnerte erinnert h|person kin|an+a:person kin building|
meet met met|treffen trifft traf getroffen h|person kin|a:person kin|pi
play played played|spielen spielt spielte gespielt h|person kin animal|with>mit+d:animal person|p
take took taken +part|teil-nehmen nimmt nahm teilgenommen h|person kin|in>an+d:event|
go went gone|gehen geht ging gegangen s|person kin|@to|i
go went gone|gehen geht ging gegangen s|person kin|@in|i
run ran run|laufen läuft lief gelaufen s|person kin animal|@in|i
drive drove driven|fahren fährt fuhr gefahren s|person kin|@to|i
travel traveled traveled|reisen reist reiste gereist s|person kin|@city|i
fly flew flown|fliegen fliegt flog geflogen s|person kin|@city|i
jump jumped jumped|springen springt sprang gesprungen s|person animal|@on|i
put put put|legen legt legte gelegt h|person kin|a:flat text clothes;@on|vi
place placed placed|stellen stellt stellte gestellt h|person kin|a:upright;@on|vi
lie lay lain|liegen liegt lag gelegen h|flat text clothes animal||Ps
stand stood stood|stehen steht stand gestanden h|upright||Ps
sit sat sat|sitzen sitzt saß gesessen h|person kin animal||Ps
"""


@dataclasses.dataclass(frozen=True)
class Argument:
    """One argument of a verb: prepositions, German case and noun classes."""

    english: str
    german: str
    case: str
    classes: tuple

    @property
    def is_bare(self):
        """Whether it is an object without a preposition in German."""
        return not self.german and not self.is_goal

    @property
    def is_goal(self):
        return self.case == "@"


@dataclasses.dataclass(frozen=True)
class Verb:
    """A verb: forms in both languages, arguments and selection."""

    english: str
    english_past: str
    english_participle: str
    particle: str
    infinitive: str
    prefix: str
    reflexive: bool
    third: str
    past: str
    participle: str
    auxiliary: str
    subjects: tuple
    arguments: tuple
    flags: str

    @functools.cached_property
    def english_third(self):
        return english_plural(self.english)

    @functools.cached_property
    def zu_infinitive(self):
        if self.prefix:
            return [self.prefix + "zu" + self.infinitive]
        return ["zu", self.infinitive]

    @functools.cached_property
    def stem(self):
        return self.infinitive[:-1] if self.ends_in_n else self.infinitive[:-2]

    @property
    def ends_in_n(self):  # lächeln, füttern, erinnern
        return self.infinitive.endswith(("eln", "ern"))

    @functools.cached_property
    def present(self):
        """{(person, is_plural): form}, the prefix left out."""
        first = self.stem + "e"
        if self.third == "weiß":
            first = self.third
        elif self.infinitive.endswith("eln"):
            first = self.infinitive[:-3] + "le"
        return {
            (1, False): first,
            (2, False): self._second(),
            (3, False): self.third,
            (1, True): self.infinitive,
            (3, True): self.infinitive,
        }

    def _second(self):
        base = self.third.removesuffix("t")
        if self.third == "lädt":
            return "lädst"
        return base + ("t" if base[-1] in "sßz" else "st")

    @functools.cached_property
    def preterite(self):
        plural = self.past + ("n" if self.past.endswith("e") else "en")
        return {
            (1, False): self.past,
            (3, False): self.past,
            (1, True): plural,
            (3, True): plural,
        }

    @functools.cached_property
    def imperative(self):
        base = self.third.removesuffix("t")
        if "e" in self.stem and "i" in base and "ie" not in self.stem:
            if base != self.stem and not self.stem.startswith("beg"):
                return base  # Gib! Lies!
        endings = ("t", "d", "ffn", "dank", "folg", "grüß")  # Warte! Danke!
        if self.stem.endswith(endings) or self.ends_in_n:
            return self.stem + "e"
        return self.stem


def _parse_argument(text):
    if text.startswith("@"):
        return Argument("", "", "@", (text[1:],))
    head, classes = text.split(":")
    head, _, case = head.rpartition("+") if "+" in head else (head[:-1], "", head[-1])
    english, arrow, german = head.partition(">")
    if not arrow:
        english, german = "", head
    return Argument(english, german, case, tuple(classes.split()))


def _parse_verb(line):
    english, german, subjects, arguments, flags = line.split("|")
    english, _, particle = english.partition(" +")
    base, past, participle = english.split()
    reflexive = german.startswith("sich ")
    infinitive, third, german_past, german_participle, auxiliary = (
        german.removeprefix("sich ").split()
    )
    prefix, _, infinitive = infinitive.rpartition("-")
    return Verb(
        english=base,
        english_past=past,
        english_participle=participle,
        particle=particle,
        infinitive=infinitive,
        prefix=prefix,
        reflexive=reflexive,
        third=third,
        past=german_past,
        participle=german_participle,
        auxiliary="haben" if auxiliary == "h" else "sein",
        subjects=tuple(subjects.split()),
        arguments=tuple(
            _parse_argument(argument) for argument in arguments.split(";") if argument
        ),
        flags=flags,
    )


# Verbs before that, whether and an infinitive.
_MATRIX_ENTRIES = {
    "that": """
know knew known|wissen weiß wusste gewusst h|person kin||
believe believed believed|glauben glaubt glaubte geglaubt h|person kin||
say said said|sagen sagt sagte gesagt h|person kin||
hope hoped hoped|hoffen hofft hoffte gehofft h|person kin||
hear heard heard|hören hört hörte gehört h|person kin||""",
    "whether": """
ask asked asked|fragen fragt fragte gefragt h|person kin||
wonder wondered wondered|sich fragen fragt fragte gefragt h|person kin||
know knew known|wissen weiß wusste gewusst h|person kin||""",
    "infinitive": """
try tried tried|versuchen versucht versuchte versucht h|person kin||
promise promised promised|versprechen verspricht versprach versprochen h|person kin||
decide decided decided|beschließen beschließt beschloss beschlossen h|person kin||
begin began begun|beginnen beginnt begann begonnen h|person kin||
plan planned planned|planen plant plante geplant h|person kin||
refuse refused refused|sich weigern weigert weigerte geweigert h|person kin||
hope hoped hoped|hoffen hofft hoffte gehofft h|person kin||""",
}
VERBS = tuple(_parse_verb(line) for line in _ENTRIES.strip().splitlines())
MATRIX_VERBS = {
    key: tuple(_parse_verb(line) for line in text.strip().splitlines())
    for key, text in _MATRIX_ENTRIES.items()
}


def _forms(first, second, third, plural):
    return {
        (1, False): first,
        (2, False): second,
        (3, False): third,
        (1, True): plural,
        (3, True): plural,
    }


# German auxiliaries and modals: (present, preterite).
AUXILIARIES = {
    "haben": (
        _forms("habe", "hast", "hat", "haben"),
        _forms("hatte", "hattest", "hatte", "hatten"),
    ),
    "sein": (
        _forms("bin", "bist", "ist", "sind"),
        _forms("war", "warst", "war", "waren"),
    ),
    "werden": (
        _forms("werde", "wirst", "wird", "werden"),
        _forms("wurde", "wurdest", "wurde", "wurden"),
    ),
    "können": (
        _forms("kann", "kannst", "kann", "können"),
        _forms("konnte", "konntest", "konnte", "konnten"),
    ),
    "müssen": (
        _forms("muss", "musst", "muss", "müssen"),
        _forms("musste", "musstest", "musste", "mussten"),
    ),
    "wollen": (
        _forms("will", "willst", "will", "wollen"),
        _forms("wollte", "wolltest", "wollte", "wollten"),
    ),
    "dürfen": (
        _forms("darf", "darfst", "darf", "dürfen"),
        _forms("durfte", "durftest", "durfte", "durften"),
    ),
    "sollen": (
        _forms("sollte", "solltest", "sollte", "sollten"),
        _forms("sollte", "solltest", "sollte", "sollten"),
    ),
}
