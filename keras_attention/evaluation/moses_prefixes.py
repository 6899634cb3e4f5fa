"""Words after which a full stop belongs to the word, as the Moses tokenizer knows them.

Facts about that program: whoever compares tokenised BLEU needs the same ones.
"""

import string

_TITLES = """
Adj Adm Adv Asst Bart Bldg Brig Bros Capt Cmdr Col Comdr Con Corp Cpl DR Dr Ens Gen Gov
Hon Hosp Insp Lt MM MR MRS MS Maj Messrs Mlle Mme Mr Mrs Ms Msgr Op Ord Pfc Ph Prof Pvt
Rep Reps Res Rev Rt Sen Sens Sfc Sgt Sr St Supt Surg
""".split()
_ROMAN = """
I II III IV V VI VII VIII IX X XI XII XIII XIV XV XVI XVII XVIII XIX XX
""".split()
_GERMAN = """
Mio Mrd bzw v vs usw d.h z.B u.a etc MwSt ggf d.J D.h m.E vgl I.F z.T sogen ff u.E g.U
g.g.A c.-à-d Buchst u.s.w sog u.ä Std evtl Zt Chr u.U o.ä Ltd b.A z.Zt spp sen SA k.o
jun i.H.v dgl dergl Co zzt usf s.p.a Dkr bzgl BSE No Nos Art Nr pp ca Ca
""".split()
_ENGLISH = """
Drs Hr v vs i.e rev e.g Rs Nos Nr Jan Feb Mar Apr Jun Jul Aug Sep Oct Nov Dec
""".split()
_FRENCH = """
A.C.N A.M art ann apr av auj lib B.P boul ca c.-à-d cf ch.-l chap contr C.P.I C.Q.F.D
C.N C.N.S C.S dir éd e.g env al etc E.V ex fasc fém fig fr hab ibid id i.e inf LL.AA
LL.AA.II LL.AA.RR LL.AA.SS L.D LL.EE LL.MM LL.MM.II.RR loc.cit masc MM ms N.B N.D.A
N.D.L.R N.D.T n/réf NN.SS N.S N.D N.P.A.I p.c.c pl pp p.ex p.j P.S R.A.S R.-V R.P R.I.P
SS S.S S.A S.A.I S.A.R S.A.S S.E sec sect sing S.M S.M.I.R sq sqq suiv sup suppl tél
T.S.V.P vb vol vs X.O Z.I
""".split()

# language -> words
PREFIXES = {
    "de": frozenset(
        [
            *string.ascii_letters,
            *_ROMAN,
            *map(str.lower, _ROMAN),
            *_TITLES,
            *_GERMAN,
            *map(str, range(1, 100)),  # "am 3. Oktober"
        ]
    ),
    "en": frozenset([*string.ascii_uppercase, *_TITLES, *_ENGLISH]),
    "fr": frozenset(
        [*string.ascii_uppercase, *string.ascii_lowercase.replace("a", ""), *_FRENCH]
    ),
}
# The same, where a number follows only.
PREFIXES_OF_NUMBERS = {
    "de": frozenset(),
    "en": frozenset(["No", "Art", "pp"]),
    "fr": frozenset(),
}
