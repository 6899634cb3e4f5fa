"""The special pieces, their ids and their spellings.

Every tokenizer, mask, loss and search of the package agrees on these four, and
this is the only place where they are spelled.
"""

PAD_ID = 0
UNK_ID = 1
START_ID = 2
END_ID = 3

PAD = "[PAD]"
UNK = "[UNK]"
START = "[START]"
END = "[END]"

SPECIAL_PIECES = (PAD, UNK, START, END)  # in the order of their ids
