"""Text to tokens: byte-level BPE, as GPT-2 defined it, with the tokens and merges of a GGUF file; WordPiece, as BERT did."""
import re
import unicodedata


def byte_letters():
    """GPT-2's letter for each byte: printable ones stand for themselves, the others follow from U+0100 on."""
    plain = [*range(ord("!"), ord("~") + 1), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    others = [byte for byte in range(256) if byte not in plain]
    return {**{byte: chr(byte) for byte in plain}, **{byte: chr(256 + i) for i, byte in enumerate(others)}}


class ByteLevelTokenizer:
    """Splits text into words with the space in front of them, digits one by one; no special tokens."""

    words = re.compile(r"'(?:[sdmt]|ll|ve|re)| ?[^\W\d_]+| ?\d| ?[^\s\w]+|\s+(?!\S)|\s+")

    def __init__(self, fields):
        self.tokens = fields["tokenizer.ggml.tokens"]
        self.ids = {token: number for number, token in enumerate(self.tokens)}
        self.ranks = {tuple(merge.split(" ")): rank for rank, merge in enumerate(fields["tokenizer.ggml.merges"])}
        self.letters = byte_letters()
        self.bytes = {letter: byte for byte, letter in self.letters.items()}

    def encode(self, text):
        ids = []
        for word in self.words.findall(text):
            ids += [self.ids[piece] for piece in self.merge([self.letters[byte] for byte in word.encode()])]
        return ids

    def merge(self, pieces):
        """Joins the neighbours of the lowest rank, again and again."""
        while True:
            ranked = [(self.ranks[pair], i) for i, pair in enumerate(zip(pieces, pieces[1:])) if pair in self.ranks]
            if not ranked:
                return pieces
            _, i = min(ranked)
            pieces = [*pieces[:i], pieces[i] + pieces[i + 1], *pieces[i + 2:]]

    def decode(self, ids):
        return bytes(self.bytes[letter] for number in ids for letter in self.tokens[number]).decode(errors="replace")


class WordPieceTokenizer:
    """Of uncased models: words and punctuation without accents, each as the longest pieces that the vocabulary has, from the left."""

    words = re.compile(r"\w+|[^\w\s]")

    def __init__(self, vocabulary):
        self.ids = {token: number for number, token in enumerate(vocabulary)}

    def encode(self, text):
        plain = "".join(c for c in unicodedata.normalize("NFD", text.lower()) if unicodedata.category(c) != "Mn")
        pieces = [piece for word in self.words.findall(plain) for piece in self.split(word)]
        return [self.ids[piece] for piece in ("[CLS]", *pieces, "[SEP]")]

    def split(self, word):
        pieces = []
        while word:
            prefix = "##" if pieces else ""
            size = next((n for n in range(len(word), 0, -1) if prefix + word[:n] in self.ids), 0)
            if not size:
                return ["[UNK]"]
            pieces.append(prefix + word[:size])
            word = word[size:]
        return pieces
