#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Makes the small vocabulary of this folder and the ids an independent tokenizer gives for hard texts.

Needs the PyPI package `tokenizers` (made with 0.23.3). Run it here: it writes `vocabulary.json` (tokens, merges, special
tokens; all 256 bytes are in it) and `cases.json` (per pre-tokenizer rule, texts with ids; special tokens parsed).
"""
import json
import pathlib
import random

from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, pre_tokenizers, trainers

HERE = pathlib.Path(__file__).resolve().parent
CONTROL = ["<|end|>", "<|start|>", "<s>", "</s>"]
USER_DEFINED = ["<tool>", "<tool><tool>", "    "]
CORPUS = """The quick brown fox jumps over the lazy dog. The model reads tokens and writes tokens; it's what they're for.
I'm sure you've seen that we'll need 12345 numbers, 67.89 or 1e-10, and some_names(with, punctuation) -> like_this.
Le garçon a mangé une pâte à tarte près de l'hôtel où l'été dure. Größe, Straße, übermäßig, Äpfel.
日本語のテキストと漢字の文章。これはテストです。 Привет, мир! Это текст на русском языке.
def main():\n    return [x for x in range(10) if x % 2 == 0]\n\n\nclass A:\n\tpass\r\n\r\n
""".strip()
# Published expressions: GPT-2's is what ByteLevel uses itself; these two are of Llama 3 and Qwen 2.
WORDS = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+"
REST = r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"


def train():
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.train_from_iterator(
        [CORPUS] * 4,
        trainers.BpeTrainer(vocab_size=560, initial_alphabet=sorted(pre_tokenizers.ByteLevel.alphabet()), show_progress=False),
    )
    model = json.loads(tokenizer.to_str())["model"]
    merges = [m if isinstance(m, list) else m.split(" ") for m in model["merges"]]
    return model["vocab"], merges


def split(pattern):
    return pre_tokenizers.Sequence([
        pre_tokenizers.Split(Regex(pattern), "isolated"),
        pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
    ])


RULES = {
    "gpt-2": lambda: pre_tokenizers.ByteLevel(add_prefix_space=False),
    "smollm": lambda: pre_tokenizers.Sequence([pre_tokenizers.Digits(individual_digits=True), pre_tokenizers.ByteLevel(add_prefix_space=False)]),
    "llama-bpe": lambda: split(WORDS + r"|\p{N}{1,3}" + REST),
    "qwen2": lambda: split(WORDS + r"|\p{N}" + REST),
}


def build(rule, vocabulary, merges):
    tokenizer = Tokenizer(models.BPE(vocab=vocabulary, merges=[tuple(m) for m in merges], ignore_merges=rule == "llama-bpe"))
    tokenizer.pre_tokenizer = RULES[rule]()
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.add_special_tokens([AddedToken(t, normalized=False, special=True) for t in CONTROL])
    tokenizer.add_tokens([AddedToken(t, normalized=False) for t in USER_DEFINED])
    return tokenizer


FIXED = [
    "", " ", "  ", "   ", "\n", "\n\n", " \n", "\n ", " \n \n  x", "\r\n", "\r\n\r\n  a", "\t\tx", "a  b", "a   b", "a\u00a0b", "a \u00a0 b",
    "a\u2028b \u2029 c", "a\u0085b", "a\u180eb \u180e c", "a\u200bb", "a\u3000\u3000b", "x\x0b\x0cy", "x\x1c\x1d y",
    "I'm you're they've we'll he'd it's 't 'S 'LL 'Re can'T '\u017f 'x ''s", "l'été d'où", "12345 67.89 1e-10", "1 2  3   4", "a1b22c333d4444",
    "٣٤٥ १२३ ½ Ⅷ ①②", "x²y³", "日本語のテキスト", "Привет, мир", "caf\u00e9 cafe\u0301", "e\u0301\u0301\u0301 \u0301x", "\u0378\u0379 \uffff",
    "🙂👍🏽👨\u200d👩\u200d👧", "\U0001f1e6\U0001f1e7", "\ufeffbom", "!!! ??? ...\n", "foo_bar-baz.qux(1,2)\n\n", "a.\r\n\r\nb", "( )\n \n( )", "\n\n\n   \n", "a \n", "a\n\n b",
    "<|start|>user\nhi<|end|>\n<|start|>", "x<|start|>y", "<s>G", "x<s> y", "<s><s></s>", "<|start|", "<|start|><", "<<s>>", "<tool>", "<tool><tool>", "<tool><tool><tool>", "<tool> <tool",
    "        indented", "  if x:\n      y", "<|END|>", "ÀÉÎÕÜ àéîõü ßẞ", "ǅ ʰ ª", "\U00010400\U00010428", "𝟘𝟙 𝐀𝐁", "한국어 텍스트", "עברית ‏ نص", "a\u0000b", "\u007f\u0080\u009f", "Ġ Ċ ĠĠ", "\ud7ff\ue000\U0010ffff",
]


def random_texts(count):
    rng = random.Random(20)
    pools = [
        "abcxyzABC", "0123456789", "  \t\n\r", "'!?.,;:-_()<>|/", "éàüßñçø", "日本語漢字", "абвгд", "\u0301\u0308\u200d\ufe0f", "\u2028\u2029\u0085\u00a0\u3000\u180e",
        "٠١٢३४Ⅷ½", "🙂👍\U0001f3fd", ["the", "The", "'s", "'LL", "'re", "<|end|>", "<s>", "<tool>", "    ", "\r\n", "\n\n", "token"],
    ]
    for _ in range(count):
        yield "".join(rng.choice(rng.choice(pools)) for _ in range(rng.randint(1, 40)))


def main():
    vocabulary, merges = train()
    tokens = sorted(vocabulary, key=vocabulary.get)
    # "Abc" is a token that no merges make: only a rule that looks words up first can find it.
    tokens.append("Abc")
    vocabulary = {t: i for i, t in enumerate(tokens)}
    data = {
        "tokens": tokens + CONTROL + USER_DEFINED,
        "token_types": [1] * len(tokens) + [3] * len(CONTROL) + [4] * len(USER_DEFINED),
        "merges": [" ".join(m) for m in merges],
    }
    (HERE / "vocabulary.json").write_text(json.dumps(data, ensure_ascii=True, indent=0) + "\n")
    texts = FIXED + ["Abc xAbc Abc", "12 Abc\n"] + list(random_texts(300))
    cases = {rule: [{"text": t, "ids": build(rule, vocabulary, merges).encode(t, add_special_tokens=False).ids} for t in texts] for rule in RULES}
    with open(HERE / "cases.json", "w") as out:
        out.write("{\n")
        for r, (rule, entries) in enumerate(cases.items()):
            out.write(f'"{rule}": [\n' + ",\n".join(json.dumps(e) for e in entries) + ("\n],\n" if r + 1 < len(cases) else "\n]\n"))
        out.write("}\n")


main()
