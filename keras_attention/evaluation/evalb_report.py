"""What EVALB prints of its scores, to the digit."""

_HEAD = (
    "  Sent.                        Matched  Bracket   Cross        Correct Tag\n"
    " ID  Len.  Stat. Recal  Prec.  Bracket gold test Bracket Words  Tags Accracy"
)
_RULE = "=" * 76


def sentence_table(result):
    """Returns a row for each sentence, and the row of totals.

    Args:
        result: `BracketResult`.
    """
    rows = [_sentence(row) for row in result.rows]
    return "\n".join([_HEAD, _RULE, *rows, _RULE, _totals(result)])


def summary_text(result):
    """Returns the summary of all sentences, and of those up to the cut-off length.

    Args:
        result: `BracketResult`.
    """
    return (
        f"=== Summary ===\n\n-- All --\n{_summary(result)}\n\n"
        f"-- len<={result.cutoff_length} --\n{_summary(result.short)}"
    )


def _summary(part):
    # Where nothing matches, EVALB divides zero by zero.
    f1 = part.f1 if part.matched else float("nan")
    lines = [
        ("Number of sentence", f"{part.sentences:6d}"),
        ("Number of Error sentence", f"{part.error_sentences:6d}"),
        ("Number of Skip  sentence", f"{part.skipped_sentences:6d}"),
        ("Number of Valid sentence", f"{part.valid_sentences:6d}"),
        ("Bracketing Recall", f"{part.recall:6.2f}"),
        ("Bracketing Precision", f"{part.precision:6.2f}"),
        ("Bracketing FMeasure", f"{f1:6.2f}"),
        ("Complete match", f"{part.complete_match:6.2f}"),
        ("Average crossing", f"{part.average_crossing:6.2f}"),
        ("No crossing", f"{part.no_crossing:6.2f}"),
        ("2 or less crossing", f"{part.two_or_less_crossing:6.2f}"),
        ("Tagging accuracy", f"{part.tagging_accuracy:6.2f}"),
    ]
    return "\n".join(f"{name:<25} = {value}" for name, value in lines)


def _sentence(row):
    return (
        f"{row.number:4d}  {row.length:3d}    {row.status}  {row.recall:6.2f} "
        f"{row.precision:6.2f}   {row.matched:3d}    {row.gold:3d}  "
        f"{row.predicted:3d}    {row.crossing:3d}   {row.words:4d}  "
        f"{row.correct_tags:4d}   {row.tagging_accuracy:6.2f}"
    )


def _totals(result):
    brackets = ""
    if result.gold and result.predicted:
        brackets = (
            f"{'':16}{result.recall:6.2f} {result.precision:6.2f} {result.matched:6d} "
            f"{result.gold:5d} {result.predicted:5d}  {result.crossing:5d}"
        )
    words = f"  {result.words:5d} {result.correct_tags:5d}   "
    return f"{brackets}{words}{result.tagging_accuracy:6.2f}"
