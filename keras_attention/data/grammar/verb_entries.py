"""Verbs of the synthetic corpus, English and German.

An entry reads `english past participle [+particle] | german er-form past participle
auxiliary | subjects | arguments | flags`; an indented line continues it. German
infinitives mark a separable prefix with a hyphen (an-rufen), reflexive verbs begin
with `sich`; the auxiliary is h(aben) or s(ein). H stands for all people. An argument
is `[english preposition>][german preposition+]case:classes`, case a(ccusative) or
d(ative), in the English order; `@in`, `@on`, `@to` and `@city` are goals of a motion.
Flags: p may add a place, P needs one; v has a passive; s is a state (no adverbials, no
perfect); i is done on purpose (imperative, wants to); m takes an adverb of manner, q
one of speed, l one of loudness.
"""

ENTRIES = """
sleep slept slept|schlafen schläft schlief geschlafen h|H animal||pi
work worked worked|arbeiten arbeitet arbeitete gearbeitet h|H||pi
laugh laughed laughed|lachen lacht lachte gelacht h|H||pli
cry cried cried|weinen weint weinte geweint h|H||pl
dance danced danced|tanzen tanzt tanzte getanzt h|H||piq
sing sang sung|singen singt sang gesungen h|H||pil
smile smiled smiled|lächeln lächelt lächelte gelächelt h|H||pi
cook cooked cooked|kochen kocht kochte gekocht h|H||i
arrive arrived arrived|an-kommen kommt kam angekommen s|H transport||
disappear disappeared disappeared|verschwinden verschwindet verschwand verschwunden s
    |person animal||
wake woke woken +up|auf-wachen wacht wachte aufgewacht s|H animal||i
get got gotten +up|auf-stehen steht stand aufgestanden s|H||i
fall fell fallen +asleep|ein-schlafen schläft schlief eingeschlafen s|H animal||p
rest rested rested|sich aus-ruhen ruht ruhte ausgeruht h|H||pi
hurry hurried hurried|sich beeilen beeilt beeilte beeilt h|H||i
live lived lived|wohnen wohnt wohnte gewohnt h|H||Ps
read read read|lesen liest las gelesen h|H|a:text|pviq
write wrote written|schreiben schreibt schrieb geschrieben h|H|a:text|viq
buy bought bought|kaufen kauft kaufte gekauft h
    |H|a:food text thing clothes vehicle flat upright|vi
sell sold sold|verkaufen verkauft verkaufte verkauft h
    |H|a:vehicle clothes device switch thing|vi
see saw seen|sehen sieht sah gesehen h|H|a:H animal wild building vehicle|
find found found|finden findet fand gefunden h|H|a:flat thing clothes text|pvi
lose lost lost|verlieren verliert verlor verloren h|H|a:flat thing clothes|v
forget forgot forgotten|vergessen vergisst vergaß vergessen h
    |H|a:flat thing clothes text|v
eat ate eaten|essen isst aß gegessen h|H|a:food|pviq
drink drank drunk|trinken trinkt trank getrunken h|H|a:drink|piq
love loved loved|lieben liebt liebte geliebt h|H|a:H animal|s
know knew known|kennen kennt kannte gekannt h|H|a:H|s
need needed needed|brauchen braucht brauchte gebraucht h
    |H|a:flat thing clothes vehicle device switch|s
own owned owned|besitzen besitzt besaß besessen h
    |H|a:vehicle device switch building|s
visit visited visited|besuchen besucht besuchte besucht h|H|a:H building|vi
greet greeted greeted|begrüßen begrüßt begrüßte begrüßt h|H|a:H|vi
paint painted painted|malen malt malte gemalt h|H|a:person animal wild|vi
carry carried carried|tragen trägt trug getragen h|H|a:upright thing|vim
hear heard heard|hören hört hörte gehört h|H|a:H animal transport|
clean cleaned cleaned|putzen putzt putzte geputzt h|H|a:room door vehicle|vim
repair repaired repaired|reparieren repariert reparierte repariert h
    |H|a:vehicle device switch|vim
open opened opened|öffnen öffnet öffnete geöffnet h|H|a:door|vim
close closed closed|schließen schließt schloss geschlossen h|H|a:door|vim
wear wore worn|tragen trägt trug getragen h|H|a:clothes|
ask asked asked|fragen fragt fragte gefragt h|H|a:H|vi
describe described described|beschreiben beschreibt beschrieb beschrieben h
    |H|a:person animal building text|vi
destroy destroyed destroyed|zerstören zerstört zerstörte zerstört h
    |H|a:vehicle device switch|v
steal stole stolen|stehlen stiehlt stahl gestohlen h
    |H|a:vehicle thing device switch|v
feed fed fed|füttern füttert fütterte gefüttert h|H|a:animal|vim
call called called|an-rufen ruft rief angerufen h|H|a:H|vi
pick picked picked +up|ab-holen holt holte abgeholt h|H|a:H|vi
invite invited invited|ein-laden lädt lud eingeladen h|H|a:H|vi
unpack unpacked unpacked|aus-packen packt packte ausgepackt h|H|a:upright|vim
try tried tried +on|an-probieren probiert probierte anprobiert h|H|a:clothes|vi
turn turned turned +off|aus-schalten schaltet schaltete ausgeschaltet h|H|a:switch|vi
turn turned turned +on|ein-schalten schaltet schaltete eingeschaltet h|H|a:switch|vi
throw threw thrown +away|weg-werfen wirft warf weggeworfen h|H|a:text clothes|vi
give gave given +back|zurück-geben gibt gab zurückgegeben h|H|a:flat thing text|vi
help helped helped|helfen hilft half geholfen h|H|d:H|i
thank thanked thanked|danken dankt dankte gedankt h|H|d:H|i
trust trusted trusted|vertrauen vertraut vertraute vertraut h|H|d:H|s
follow followed followed|folgen folgt folgte gefolgt s|person animal|d:H|im
congratulate congratulated congratulated|gratulieren gratuliert gratulierte gratuliert h
    |H|d:H|i
answer answered answered|antworten antwortet antwortete geantwortet h|H|d:H|il
listen listened listened|zu-hören hört hörte zugehört h|H|to>d:H|i
wave waved waved|zu-winken winkt winkte zugewinkt h|H|to>d:H|i
belong belonged belonged|gehören gehört gehörte gehört h
    |vehicle thing clothes|to>d:H|s
give gave given|geben gibt gab gegeben h|H|d:H;a:flat thing text food|i
show showed shown|zeigen zeigt zeigte gezeigt h|H|d:H;a:text thing building|i
send sent sent|schicken schickt schickte geschickt h|H|d:H;a:text thing|i
bring brought brought|bringen bringt brachte gebracht h|H|d:H;a:food text thing|i
lend lent lent|leihen leiht lieh geliehen h|H|d:H;a:vehicle text thing|i
read read read|vor-lesen liest las vorgelesen h|H|d:H;a:text|i
wait waited waited|warten wartet wartete gewartet h|H|for>auf+a:H transport|pi
think thought thought|denken denkt dachte gedacht h|H|of>an+a:H animal building|i
talk talked talked|sprechen spricht sprach gesprochen h|H|with>mit+d:H|pi
dream dreamed dreamed|träumen träumt träumte geträumt h
    |H|of>von+d:person animal wild vehicle|
laugh laughed laughed|lachen lacht lachte gelacht h|H|at>über+a:H animal|i
complain complained complained|sich beschweren beschwert beschwerte beschwert h
    |H|about>über+a:H building|i
ask asked asked|bitten bittet bat gebeten h|H|a:H;for>um+a:drink flat text|i
look looked looked|suchen sucht suchte gesucht h
    |H|for>a:person animal flat thing clothes|pi
take took taken +care|sich kümmern kümmert kümmerte gekümmert h|H|of>um+a:H animal|i
remember remembered remembered|sich erinnern erinnert erinnerte erinnert h
    |H|an+a:H building|i
meet met met|treffen trifft traf getroffen h|H|a:H|pi
play played played|spielen spielt spielte gespielt h
    |H animal|with>mit+d:animal person|pi
take took taken +part|teil-nehmen nimmt nahm teilgenommen h|H|in>an+d:event|i
go went gone|gehen geht ging gegangen s|H|@to|i
go went gone|gehen geht ging gegangen s|H|@in|i
run ran run|laufen läuft lief gelaufen s|H animal|@in|i
drive drove driven|fahren fährt fuhr gefahren s|H|@to|i
travel traveled traveled|reisen reist reiste gereist s|H|@city|i
fly flew flown|fliegen fliegt flog geflogen s|H|@city|i
jump jumped jumped|springen springt sprang gesprungen s|person animal|@on|i
put put put|legen legt legte gelegt h|H|a:flat text clothes;@on|vi
place placed placed|stellen stellt stellte gestellt h|H|a:upright;@on|vi
lie lay lain|liegen liegt lag gelegen h|flat text clothes animal||Ps
stand stood stood|stehen steht stand gestanden h|upright||Ps
sit sat sat|sitzen sitzt saß gesessen h|H animal||Ps
"""

# Verbs before that, whether and an infinitive.
MATRIX_ENTRIES = {
    "that": """
know knew known|wissen weiß wusste gewusst h|H||
believe believed believed|glauben glaubt glaubte geglaubt h|H||
say said said|sagen sagt sagte gesagt h|H||i
hope hoped hoped|hoffen hofft hoffte gehofft h|H||
hear heard heard|hören hört hörte gehört h|H||""",
    "whether": """
ask asked asked|fragen fragt fragte gefragt h|H||i
wonder wondered wondered|sich fragen fragt fragte gefragt h|H||
know knew known|wissen weiß wusste gewusst h|H||""",
    "infinitive": """
try tried tried|versuchen versucht versuchte versucht h|H||i
promise promised promised|versprechen verspricht versprach versprochen h|H||i
decide decided decided|beschließen beschließt beschloss beschlossen h|H||i
begin began begun|beginnen beginnt begann begonnen h|H||i
plan planned planned|planen plant plante geplant h|H||
refuse refused refused|sich weigern weigert weigerte geweigert h|H||
hope hoped hoped|hoffen hofft hoffte gehofft h|H||""",
}
