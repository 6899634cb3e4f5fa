"""The small English-German grammar behind `keras_attention.data.synthetic`.

`nouns`, `verbs` and `adverbials` are the lexicon, `phrases` builds noun phrases,
`english` and `german` say one clause in either language, `sentences` draws
sentences. Pure Python, no TensorFlow.
"""
