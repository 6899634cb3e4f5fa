"""Nouns, adjectives and names of the synthetic corpus, English and German.

A noun entry reads `english[/plural] gender Nominative Genitive Plural`, where the
gender is m, f or n, or w for the weak masculines (der Junge, den Jungen), `.`
repeats the nominative and a plural `-` marks a mass noun. An adjective entry reads
`english german[/attributive stem] [comparative superlative]`, where the German
comparative is given when both languages compare.
"""

import dataclasses

NOUN_CLASSES = {
    "person": """
        man/men m Mann Mannes Männer, woman/women f Frau . Frauen,
        child/children n Kind Kindes Kinder, boy w Junge Jungen Jungen,
        girl n Mädchen Mädchens ., teacher m Lehrer Lehrers .,
        doctor m Arzt Arztes Ärzte, nurse f Krankenschwester . Krankenschwestern,
        student w Student Studenten Studenten, neighbor w Nachbar Nachbarn Nachbarn,
        farmer w Bauer Bauern Bauern, baker m Bäcker Bäckers .,
        waitress f Kellnerin . Kellnerinnen, queen f Königin . Königinnen,
        king m König Königs Könige, prince w Prinz Prinzen Prinzen,
        customer w Kunde Kunden Kunden, guest m Gast Gastes Gäste,
        painter m Maler Malers ., actress f Schauspielerin . Schauspielerinnen,
        pilot w Pilot Piloten Piloten, soldier w Soldat Soldaten Soldaten,
        tourist w Tourist Touristen Touristen, judge m Richter Richters .,
        policeman/policemen w Polizist Polizisten Polizisten,
        journalist w Journalist Journalisten Journalisten""",
    "kin": """
        father m Vater Vaters Väter, mother f Mutter . Mütter,
        brother m Bruder Bruders Brüder, sister f Schwester . Schwestern,
        son m Sohn Sohnes Söhne, daughter f Tochter . Töchter,
        uncle m Onkel Onkels ., aunt f Tante . Tanten,
        grandfather m Großvater Großvaters Großväter,
        grandmother f Großmutter . Großmütter, friend m Freund Freundes Freunde,
        colleague w Kollege Kollegen Kollegen""",
    "animal": """
        dog m Hund Hundes Hunde, cat f Katze . Katzen, horse n Pferd Pferdes Pferde,
        bird m Vogel Vogels Vögel, cow f Kuh . Kühe, rabbit n Kaninchen Kaninchens .,
        goat f Ziege . Ziegen, donkey m Esel Esels .""",
    "wild": """
        bear w Bär Bären Bären, lion w Löwe Löwen Löwen, monkey w Affe Affen Affen,
        elephant w Elefant Elefanten Elefanten""",
    "food": """
        apple m Apfel Apfels Äpfel, cake m Kuchen Kuchens ., egg n Ei Eis Eier,
        tomato/tomatoes f Tomate . Tomaten, banana f Banane . Bananen,
        orange f Orange . Orangen, pizza f Pizza . Pizzen, roll n Brötchen Brötchens .,
        bread n Brot Brotes -, cheese m Käse Käses -, meat n Fleisch Fleisches -,
        rice m Reis Reises -, chocolate f Schokolade . -, soup f Suppe . Suppen""",
    "drink": """
        water n Wasser Wassers -, milk f Milch . -, coffee m Kaffee Kaffees -,
        tea m Tee Tees -, beer n Bier Biers -, wine m Wein Weins -""",
    "text": """
        book n Buch Buches Bücher, letter m Brief Briefes Briefe,
        newspaper f Zeitung . Zeitungen, novel m Roman Romans Romane,
        poem n Gedicht Gedichts Gedichte, report m Bericht Berichts Berichte,
        magazine f Zeitschrift . Zeitschriften""",
    "flat": """
        key m Schlüssel Schlüssels ., knife/knives n Messer Messers .,
        ring m Ring Rings Ringe, map f Karte . Karten""",
    "upright": """
        bottle f Flasche . Flaschen, glass n Glas Glases Gläser, cup f Tasse . Tassen,
        lamp f Lampe . Lampen, vase f Vase . Vasen, box f Kiste . Kisten,
        suitcase m Koffer Koffers .""",
    "thing": """
        umbrella m Regenschirm Regenschirms Regenschirme, bag f Tasche . Taschen,
        gift n Geschenk Geschenks Geschenke, ball m Ball Balls Bälle,
        picture n Bild Bildes Bilder, flower f Blume . Blumen,
        guitar f Gitarre . Gitarren, camera f Kamera . Kameras""",
    "clothes": """
        coat m Mantel Mantels Mäntel, shirt n Hemd Hemdes Hemden,
        hat m Hut Hutes Hüte, dress n Kleid Kleides Kleider,
        shoe m Schuh Schuhs Schuhe, jacket f Jacke . Jacken,
        skirt m Rock Rocks Röcke, sweater m Pullover Pullovers .""",
    "vehicle": """
        car n Auto Autos Autos, bicycle n Fahrrad Fahrrads Fahrräder,
        boat n Boot Bootes Boote, motorcycle n Motorrad Motorrads Motorräder""",
    "transport": """
        bus/buses m Bus Busses Busse, train m Zug Zuges Züge, ship n Schiff Schiffes
        Schiffe, taxi n Taxi Taxis Taxis""",
    "device": """
        clock f Uhr . Uhren, piano n Klavier Klaviers Klaviere""",
    "switch": """
        computer m Computer Computers ., radio n Radio Radios Radios,
        machine f Maschine . Maschinen, television m Fernseher Fernsehers .""",
    "surface": """
        table m Tisch Tisches Tische, bed n Bett Bettes Betten, chair m Stuhl Stuhls
        Stühle, sofa n Sofa Sofas Sofas, bench f Bank . Bänke,
        desk m Schreibtisch Schreibtisches Schreibtische""",
    "building": """
        house n Haus Hauses Häuser, school f Schule . Schulen, hotel n Hotel Hotels
        Hotels, restaurant n Restaurant Restaurants Restaurants,
        museum n Museum Museums Museen, library f Bibliothek . Bibliotheken,
        hospital n Krankenhaus Krankenhauses Krankenhäuser, church f Kirche . Kirchen,
        theater n Theater Theaters ., castle n Schloss Schlosses Schlösser""",
    "room": """
        kitchen f Küche . Küchen, office n Büro Büros Büros, room n Zimmer Zimmers .,
        cellar m Keller Kellers .""",
    "outdoors": """
        garden m Garten Gartens Gärten, park m Park Parks Parks, forest m Wald Waldes
        Wälder, village n Dorf Dorfes Dörfer, city f Stadt . Städte""",
    "spot": """
        station m Bahnhof Bahnhofs Bahnhöfe, lake m See Sees Seen,
        river m Fluss Flusses Flüsse, airport m Flughafen Flughafens Flughäfen""",
    "event": """
        concert n Konzert Konzerts Konzerte, party f Feier . Feiern,
        meeting f Sitzung . Sitzungen, competition m Wettbewerb Wettbewerbs
        Wettbewerbe""",
    "door": "door f Tür . Türen, window n Fenster Fensters .",
}

ADJECTIVE_CLASSES = {
    "person": "old alt älter ältest, young jung jünger jüngst",
    "person kin": """
        tall groß größer größt,
        rich reich reicher reichst, poor arm ärmer ärmst, strong stark stärker stärkst,
        polite höflich höflicher höflichst, famous berühmt berühmter berühmtest,
        brave mutig mutiger mutigst, friendly freundlich freundlicher freundlichst,
        clever klug klüger klügst, tired müde/müd, sick krank, sad traurig,
        happy glücklich glücklicher glücklichst, hungry hungrig, angry wütend,
        lonely einsam, proud stolz""",
    "animal wild": """
        old alt älter ältest, young jung jünger jüngst, big groß größer größt,
        small klein kleiner kleinst, hungry hungrig,
        strong stark stärker stärkst, black schwarz, white weiß, brown braun,
        tired müde/müd""",
    "food": """
        big groß größer größt, small klein kleiner kleinst, fresh frisch,
        cheap billig billiger billigst, delicious köstlich, warm warm""",
    "drink": "cold kalt, warm warm, cheap billig billiger billigst, hot heiß",
    "event": """
        long lang länger längst, important wichtig wichtiger wichtigst,
        boring langweilig, interesting interessant""",
    "text": """
        old alt älter ältest, new neu neuer neuest, long lang länger längst,
        short kurz kürzer kürzest, interesting interessant, boring langweilig,
        important wichtig wichtiger wichtigst, strange seltsam""",
    "flat upright thing clothes": """
        old alt älter ältest, new neu neuer neuest, big groß größer größt,
        small klein kleiner kleinst, red rot, blue blau, green grün, black schwarz,
        white weiß, beautiful schön schöner schönst, cheap billig billiger billigst,
        expensive teuer/teur teurer teuerst, dirty schmutzig""",
    "device switch": """
        old alt älter ältest, new neu neuer neuest, big groß größer größt,
        small klein kleiner kleinst, expensive teuer/teur teurer teuerst,
        modern modern, broken kaputt""",
    "vehicle transport": """
        old alt älter ältest, new neu neuer neuest, red rot, blue blau, green grün,
        modern modern, fast schnell schneller schnellst,
        expensive teuer/teur teurer teuerst, broken kaputt""",
    "surface door": """
        old alt älter ältest, new neu neuer neuest, big groß größer größt,
        small klein kleiner kleinst, heavy schwer schwerer schwerst, white weiß""",
    "building room outdoors spot": """
        old alt älter ältest, big groß größer größt, small klein kleiner kleinst,
        beautiful schön schöner schönst, quiet ruhig ruhiger ruhigst,
        dark dunkel/dunkl""",
}

NAMES = {"Anna": "f", "Peter": "m", "Maria": "f", "Paul": "m", "Julia": "f",
         "Martin": "m", "Laura": "f", "Simon": "m", "Clara": "f", "Daniel": "m",
         "Eva": "f", "Robert": "m", "Nina": "f", "Oskar": "m", "Sarah": "f",
         "David": "m"}  # fmt: skip

# The English name of a city, and the German one.
CITIES = {"Berlin": "Berlin", "Vienna": "Wien", "Munich": "München", "Paris": "Paris",
          "Rome": "Rom", "London": "London", "Cologne": "Köln", "Prague": "Prag",
          "Hamburg": "Hamburg", "Zurich": "Zürich"}  # fmt: skip

NUMBERS = {"two": "zwei", "three": "drei", "four": "vier", "five": "fünf",
           "six": "sechs", "seven": "sieben", "eight": "acht", "nine": "neun",
           "ten": "zehn", "eleven": "elf", "twelve": "zwölf",
           "twenty": "zwanzig"}  # fmt: skip


@dataclasses.dataclass(frozen=True)
class Noun:
    """A noun: both English forms, and gender and stems of the German one."""

    english: str
    plural: str
    gender: str
    weak: bool
    nominative: str
    genitive: str
    german_plural: str
    noun_class: str

    @property
    def is_mass(self):
        return self.german_plural == "-"

    def german(self, case, is_plural):
        """The form for a case "n", "a", "d" or "g"."""
        if is_plural:
            if case == "d" and self.german_plural[-1] not in "ns":
                return self.german_plural + "n"
            return self.german_plural
        if case == "g" or (self.weak and case != "n"):
            return self.genitive
        return self.nominative


@dataclasses.dataclass(frozen=True)
class Adjective:
    """An adjective; `comparative` is "" where the corpus never compares."""

    english: str
    german: str
    stem: str
    comparative: str
    superlative: str


def english_plural(word):
    """The regular English plural, which is also the third person of a verb."""
    if word.endswith(("s", "x", "ch", "sh", "o")):
        return word + ("s" if word in ("radio", "piano") else "es")
    if word.endswith("y") and word[-2] not in "aeou":
        return word[:-1] + "ies"
    return word + "s"


def _parse_nouns():
    nouns = {}
    for noun_class, text in NOUN_CLASSES.items():
        entries = []
        for entry in text.split(","):
            english, gender, nominative, genitive, plural = entry.split()
            singular, _, irregular = english.partition("/")
            entries.append(
                Noun(
                    english=singular,
                    plural=irregular or english_plural(singular),
                    gender=gender.replace("w", "m"),
                    weak=gender == "w",
                    nominative=nominative,
                    genitive=genitive.replace(".", nominative),
                    german_plural=plural.replace(".", nominative),
                    noun_class=noun_class,
                )
            )
        nouns[noun_class] = tuple(entries)
    return nouns


def _parse_adjectives():
    adjectives = {}
    for classes, text in ADJECTIVE_CLASSES.items():
        entries = []
        for entry in text.split(","):
            english, german, *degrees = entry.split()
            predicative, _, stem = german.partition("/")
            comparative, superlative = degrees or ("", "")
            entries.append(
                Adjective(
                    english, predicative, stem or predicative, comparative, superlative
                )
            )
        for noun_class in classes.split():
            adjectives[noun_class] = adjectives.get(noun_class, ()) + tuple(entries)
    return adjectives


NOUNS = _parse_nouns()
ADJECTIVES = _parse_adjectives()

_ENGLISH_DEGREES = {  # those that are not stem + er / est
    "big": ("bigger", "biggest"), "sad": ("sadder", "saddest"),
    "happy": ("happier", "happiest"), "friendly": ("friendlier", "friendliest"),
    "heavy": ("heavier", "heaviest"), "brave": ("braver", "bravest"),
    "polite": ("politer", "politest"),
}  # fmt: skip
_MORE = ("famous", "important", "beautiful", "expensive")  # more famous


def english_degrees(adjective):
    """The English (comparative, superlative), None when made with more and most.

    Example:
        >>> english_degrees("big"), english_degrees("famous")
        (('bigger', 'biggest'), None)
    """
    if adjective in _MORE:
        return None
    if adjective in _ENGLISH_DEGREES:
        return _ENGLISH_DEGREES[adjective]
    return adjective + "er", adjective + "est"
