#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Trains small tokenizers of every kind and writes what independent libraries make of hard texts.

Needs the PyPI packages `tokenizers` (made with 0.23.3), `sentencepiece` (0.2.3) and `protobuf` (7.36.2).
    make.py [--random N] [--out FOLDER] [--keep]
writes, into this folder or another one, for each tokenizer
    NAME/tokenizer.json, NAME/tokenizer_config.json   as a model's folder has them (Hugging Face), or
    NAME/gguf.json                                    the metadata that a GGUF file has, as JSON
    NAME/cases.json                                   texts with the ids that the library gives, and what these decode to
and matches.json: what steps with a regular expression make of a text, of expressions that may match nothing.
N is the number of random texts of each tokenizer, made of characters of Unicode 14. Some trainers break ties anew on each run:
with --keep the tokenizers of the first kind stay as they are in this folder, and only their texts are written again.
"""
import argparse
import base64
import io
import json
import pathlib
import random
import unicodedata

import sentencepiece
from sentencepiece import sentencepiece_model_pb2
from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers

HERE = pathlib.Path(__file__).resolve().parent
CORPUS = """The quick brown fox jumps over the lazy dog. The model reads tokens and writes tokens; it's what they're for.
I'm sure you've seen that we'll need 12345 numbers, 67.89 or 1e-10, and some_names(with, punctuation) -> like_this.
Don't worry: he'd said "yes", hadn't he? Unbelievable! HTTPServer, camelCase and SCREAMING_CASE; foo/bar, C++.
Le garçon a mangé une pâte à tarte près de l'hôtel où l'été dure. Größe, Straße, übermäßig, Äpfel.
日本語のテキストと漢字の文章。これはテストです。 中文的文本在这里。 Привет, мир! Это текст на русском языке.
한국어 텍스트도 있습니다. नमस्ते दुनिया। مرحبا بالعالم. שלום עולם. Ελληνικά κείμενα. Tiếng Việt có dấu.
def main():\n    return [x for x in range(10) if x % 2 == 0]\n\n\nclass A:\n\tpass\r\n\r\n
the there then they these them other another mother tokens tokenizer tokenization words wording reworded
""".strip()
SENTENCES = [line for line in CORPUS.split("\n") if line.strip()] * 6

CONTRACTIONS = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)"
LLAMA3 = CONTRACTIONS + r"|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
QWEN2 = LLAMA3.replace(r"\p{N}{1,3}", r"\p{N}")
UPPER, LOWER = r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]", r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]"
O200K = (rf"[^\r\n\p{{L}}\p{{N}}]?{UPPER}*{LOWER}+{CONTRACTIONS}?|[^\r\n\p{{L}}\p{{N}}]?{UPPER}+{LOWER}*{CONTRACTIONS}?"
         r"|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+")
TEKKEN = (rf"[^\r\n\p{{L}}\p{{N}}]?{UPPER}*{LOWER}+|[^\r\n\p{{L}}\p{{N}}]?{UPPER}+{LOWER}*"
          r"|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+")
DEEPSEEK = [r"\p{N}{1,3}", "[一-龥぀-ゟ゠-ヿ]+",
            r"""[!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+"""
            r"| ?[\p{P}\p{S}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"]

FIXED = [
    "", " ", "  ", "   ", "\n", "\n\n", " \n", "\n ", " \n \n  x", "\r\n", "\r\n\r\n  a", "\t\tx", "a  b", "a   b", "a\u00a0b", "a \u00a0 b",
    "a\u2028b \u2029 c", "a\u0085b", "a\u200bb", "a\u3000\u3000b", "x\x0b\x0cy", "x\x1c\x1d y", "Hello world", " Hello world", "Hello world ",
    "  leading", "trailing   ", "the tokenizer tokenizes tokens", "THE Tokenizer", "unbelievable unknownwordqzx",
    "I'm you're they've we'll he'd it's 't 'S 'LL 'Re can'T 'x ''s", "don't do not . , ! ? ' n't", "l'été d'où", "12345 67.89 1e-10", "1 2  3   4", "a1b22c333d4444",
    "٣٤٥ १२३ ½ Ⅷ ①②", "x²y³", "日本語のテキスト", "中文的文本", "Привет, мир", "caf\u00e9 cafe\u0301", "e\u0301\u0301\u0301 \u0301x", "a\u0323\u0307b\u0307\u0323",
    "🙂👍🏽👨\u200d👩\u200d👧", "\U0001f1e6\U0001f1e7", "\ufeffbom", "!!! ??? ...\n", "foo_bar-baz.qux(1,2)\n\n", "a.\r\n\r\nb", "( )\n \n( )", "\n\n\n   \n", "a \n", "a\n\n b",
    "<s>G", "x<s> y", "<s><s></s>", "<s", "<<s>>", "x </s>y", "<pad><unk>", "[CLS] a [SEP]b[MASK] c", "[MASK]", "a [MASK]b", "x<mask> y", "x <mask>  y", "<mask><mask>",
    "<tool>", "<tool><tool>", "x<tool>y", " <tool> ", "user_id user id", "user", "<user>", "wordX X wordXword X", "      indented", "  if x:\n      y",
    "ÀÉÎÕÜ àéîõü ßẞ", "İstanbul ıI", "ΑΣ ὈΔΥΣΣΕΎΣ", "ǅ ʰ ª", "\U00010400\U00010428", "𝟘𝟙 𝐀𝐁", "ﬁﬂ ｶﾞ ㌔ ℌ", "한국어 텍스트", "\u1112\u1161\u11ab", "עברית ‏ نص", "नमस्ते", "\u007f\u0080\u009f",
    "Ġ Ċ ĠĠ", "▁a ▁ ▁▁ a▁b", "##a a##b", "<0x41><0x0A>", "\ufffd", "a\ufffdb", "\u00adsoft", "…‥", "ⅣⅤ", "HTTPServer camelCase SCREAMING_CASE C++/bar", "a" * 120 + " b", "é" * 101, "the" * 40,
]
POOLS = [
    "abcxyzABC", "0123456789", "  \t\n\r", "'!?.,;:-_()<>|/", "éàüßñçø", "日本語漢字中文", "абвгд", "\u0301\u0308\u0323\u200d\ufe0f", "\u2028\u2029\u0085\u00a0\u3000",
    "٠١٢३४Ⅷ½", "🙂👍\U0001f3fd", "ﬁﬂｶﾞ㌔ℌ", "▁#", ["the", "The", "'s", "'LL", "'re", "<s>", "</s>", "<tool>", "[MASK]", "<mask>", "    ", "\r\n", "\n\n", "token", "ing", " user", "X"],
]
ASSIGNED = [c for c in range(1, 0x30000) if unicodedata.category(chr(c)) not in ("Cn", "Cs", "Co")]


# For what goes by categories of characters, which the package `tokenizers` has of an old Unicode.
LONG_ASSIGNED = [c for c in ASSIGNED if unicodedata.ucd_3_2_0.category(chr(c)) == unicodedata.category(chr(c))]
BY_CATEGORY = ("bert", "bert_cased", "gguf_bert", "unigram")


def random_texts(count, seed):
    rng = random.Random(seed)
    characters = LONG_ASSIGNED if seed in BY_CATEGORY else ASSIGNED
    for i in range(count):
        if i % 3 == 0:
            yield "".join(chr(rng.choice(characters)) if rng.random() < 0.5 else rng.choice(rng.choice(POOLS)) for _ in range(rng.randint(1, 16)))
        else:
            yield "".join(rng.choice(rng.choice(POOLS)) for _ in range(rng.randint(1, 40)))


SPECIAL = ["<unk>", "<s>", "</s>", "<pad>"]


def add_tokens(tokenizer, mask=None):
    tokenizer.add_special_tokens([AddedToken(t, normalized=False, special=True) for t in SPECIAL[1:]])
    if mask:
        tokenizer.add_special_tokens([AddedToken(mask, lstrip=True, normalized=False, special=True)])
    tokenizer.add_tokens([AddedToken("<tool>", normalized=False), AddedToken("X", single_word=True, normalized=False)])


def byte_level_bpe(pre_tokenizer, normalizer=None, ignore_merges=False, size=520):
    tokenizer = Tokenizer(models.BPE(ignore_merges=ignore_merges))
    if normalizer:
        tokenizer.normalizer = normalizer
    tokenizer.pre_tokenizer = pre_tokenizer
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.post_processor = processors.ByteLevel(trim_offsets=False)
    tokenizer.train_from_iterator(SENTENCES, trainers.BpeTrainer(
        vocab_size=size, initial_alphabet=sorted(pre_tokenizers.ByteLevel.alphabet()), show_progress=False))
    return tokenizer


def splits(*patterns):
    return pre_tokenizers.Sequence([pre_tokenizers.Split(Regex(p), "isolated") for p in patterns]
                                   + [pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)])


def bos_template(tokenizer, eos=False):
    ids = [("<s>", tokenizer.token_to_id("<s>"))] + ([("</s>", tokenizer.token_to_id("</s>"))] if eos else [])
    return processors.TemplateProcessing(single="<s> $A" + (" </s>" if eos else ""),
                                         pair="<s> $A" + (" </s>" if eos else "") + " <s>:1 $B:1" + (" </s>:1" if eos else ""), special_tokens=ids)


def gpt2():
    tokenizer = byte_level_bpe(pre_tokenizers.ByteLevel(add_prefix_space=False))
    add_tokens(tokenizer)
    return tokenizer


def llama3():
    tokenizer = byte_level_bpe(splits(LLAMA3), ignore_merges=True)
    add_tokens(tokenizer)
    tokenizer.post_processor = processors.Sequence([processors.ByteLevel(trim_offsets=False), bos_template(tokenizer)])
    return tokenizer


def qwen2():
    tokenizer = byte_level_bpe(splits(QWEN2), normalizers.NFC())
    add_tokens(tokenizer)
    return tokenizer


def plain_splits(*patterns):
    tokenizer = byte_level_bpe(splits(*patterns))
    add_tokens(tokenizer)
    return tokenizer


def roberta():
    tokenizer = byte_level_bpe(pre_tokenizers.Sequence([pre_tokenizers.Digits(individual_digits=True), pre_tokenizers.ByteLevel(add_prefix_space=True)]))
    add_tokens(tokenizer, mask="<mask>")
    tokenizer.post_processor = processors.RobertaProcessing(("</s>", tokenizer.token_to_id("</s>")), ("<s>", tokenizer.token_to_id("<s>")))
    return tokenizer


def fallback_bpe(normalizer, pre_tokenizer, decoder, seed_pre=None):
    bytes_ = [f"<0x{b:02X}>" for b in range(256)]
    trained = Tokenizer(models.BPE(unk_token="<unk>"))
    trained.normalizer = normalizer
    trained.pre_tokenizer = seed_pre or pre_tokenizers.Split("▁", "merged_with_next")
    trained.train_from_iterator(SENTENCES, trainers.BpeTrainer(vocab_size=420, special_tokens=SPECIAL[:3], show_progress=False, limit_alphabet=110))
    model = json.loads(trained.to_str())["model"]
    vocab = {}
    for token in SPECIAL[:3] + bytes_ + [t for t in sorted(model["vocab"], key=model["vocab"].get) if t not in SPECIAL]:
        vocab[token] = len(vocab)
    tokenizer = Tokenizer(models.BPE(vocab=vocab, merges=[tuple(m) for m in model["merges"]], unk_token="<unk>", fuse_unk=True, byte_fallback=True))
    tokenizer.normalizer = normalizer
    if pre_tokenizer:
        tokenizer.pre_tokenizer = pre_tokenizer
    tokenizer.decoder = decoder
    return tokenizer


SP_DECODER = [decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse()]


def llama2():
    tokenizer = fallback_bpe(normalizers.Sequence([normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")]), None,
                             decoders.Sequence(SP_DECODER + [decoders.Strip(" ", 1, 0)]))
    add_tokens(tokenizer)
    tokenizer.post_processor = bos_template(tokenizer)
    return tokenizer


def mistral():
    space = pre_tokenizers.Metaspace(replacement="▁", prepend_scheme="first", split=False)
    tokenizer = fallback_bpe(normalizers.Sequence([]), space, decoders.Sequence(SP_DECODER + [decoders.Strip(" ", 1, 0)]), pre_tokenizers.Metaspace())
    add_tokens(tokenizer)
    tokenizer.post_processor = bos_template(tokenizer)
    return tokenizer


def gemma():
    tokenizer = fallback_bpe(normalizers.Replace(" ", "▁"), pre_tokenizers.Split(" ", "merged_with_previous"), decoders.Sequence(SP_DECODER))
    add_tokens(tokenizer)
    tokenizer.add_tokens([AddedToken(t, normalized=False) for t in ("\n\n", "\n\n\n", "▁▁", "▁▁▁▁")])
    tokenizer.post_processor = bos_template(tokenizer)
    return tokenizer


def bert(lowercase):
    specials = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer(clean_text=True, handle_chinese_chars=True, strip_accents=None, lowercase=lowercase)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.decoder = decoders.WordPiece(prefix="##", cleanup=True)
    tokenizer.train_from_iterator(SENTENCES, trainers.WordPieceTrainer(vocab_size=400, special_tokens=specials, show_progress=False))
    ids = [(t, tokenizer.token_to_id(t)) for t in ("[CLS]", "[SEP]")]
    if lowercase:
        tokenizer.post_processor = processors.TemplateProcessing(single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B:1 [SEP]:1", special_tokens=ids)
    else:
        tokenizer.post_processor = processors.BertProcessing(ids[1], ids[0])
    return tokenizer


def sentencepiece_model(kind, **options):
    out = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(SENTENCES), model_writer=out, model_type=kind, hard_vocab_limit=False, num_threads=1,
        user_defined_symbols=["<tool>"], minloglevel=2, **options)
    return out.getvalue()


def proto_of(model):
    proto = sentencepiece_model_pb2.ModelProto()
    proto.ParseFromString(model)
    return proto


T5 = dict(vocab_size=330, normalization_rule_name="nmt_nfkc", pad_id=0, eos_id=1, unk_id=2, bos_id=-1)
LLAMA = dict(vocab_size=620, byte_fallback=True, normalization_rule_name="identity", remove_extra_whitespaces=False, character_coverage=0.995,
             allow_whitespace_only_pieces=True, split_digits=True)


def normalized_alike(tokenizer):
    """The package `tokenizers` looks entries of the table up by grapheme clusters; SentencePiece, whose table it is, takes the longest
    entry at each place. Texts where that differs are left out."""
    processor = sentencepiece.SentencePieceProcessor(model_proto=sentencepiece_model("unigram", **T5))
    squeezed = lambda text: " ".join(text.replace("▁", " ").split(" "))
    return lambda text: "\0" not in text and squeezed(tokenizer.normalizer.normalize_str(text)).split() == squeezed(processor.normalize(text)).split()


def t5():
    proto = proto_of(sentencepiece_model("unigram", **T5))
    tokenizer = Tokenizer(models.Unigram([(p.piece, p.score) for p in proto.pieces], unk_id=2, byte_fallback=False))
    tokenizer.normalizer = normalizers.Sequence([
        normalizers.Precompiled(proto.normalizer_spec.precompiled_charsmap), normalizers.Strip(left=False, right=True), normalizers.Replace(Regex(" {2,}"), "▁")])
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(replacement="▁", prepend_scheme="always", split=True)
    tokenizer.decoder = decoders.Metaspace(replacement="▁", prepend_scheme="always", split=True)
    tokenizer.add_special_tokens([AddedToken(t, normalized=False, special=True) for t in ("<pad>", "</s>", "<unk>")])
    tokenizer.add_tokens([AddedToken("<tool>", normalized=False)])
    tokenizer.post_processor = processors.TemplateProcessing(single="$A </s>", pair="$A </s> $B </s>", special_tokens=[("</s>", 1)])
    return tokenizer


def unigram():
    tokenizer = Tokenizer(models.Unigram())
    tokenizer.normalizer = normalizers.Sequence([normalizers.Nmt(), normalizers.NFKD(), normalizers.StripAccents(), normalizers.Lowercase(),
                                                 normalizers.Strip(), normalizers.Replace(Regex(r"\d+"), "0"), normalizers.Replace("``", '"')])
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Punctuation("isolated"), pre_tokenizers.Metaspace(prepend_scheme="always")])
    tokenizer.decoder = decoders.Metaspace(prepend_scheme="always")
    tokenizer.train_from_iterator(SENTENCES, trainers.UnigramTrainer(vocab_size=350, special_tokens=SPECIAL, unk_token="<unk>", show_progress=False))
    # Tokens whose spelling is normalized before it is looked for.
    tokenizer.add_tokens([AddedToken("user_id", normalized=True), AddedToken("<tool>", normalized=False)])
    return tokenizer


def word_level():
    tokenizer = Tokenizer(models.WordLevel(unk_token="<unk>"))
    tokenizer.normalizer = normalizers.NFD()
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.Whitespace(), pre_tokenizers.CharDelimiterSplit("_"), pre_tokenizers.Digits(individual_digits=False),
                                                       pre_tokenizers.Split(Regex(r"[A-Z]"), "merged_with_next"), pre_tokenizers.Split("tion", "contiguous")])
    tokenizer.train_from_iterator(SENTENCES, trainers.WordLevelTrainer(vocab_size=400, special_tokens=SPECIAL, show_progress=False))
    return tokenizer


def added():
    """Added tokens of every sort: found in words, over white space that another took, normalized, and such as a merge makes as well."""
    tokenizer = byte_level_bpe(pre_tokenizers.ByteLevel(add_prefix_space=False), normalizers.Sequence([normalizers.Lowercase(), normalizers.NFC()]))
    tokenizer.add_special_tokens([AddedToken(t, single_word=True, normalized=False, special=True) for t in ("the", "en")])
    tokenizer.add_special_tokens([AddedToken("\u00c9 X", normalized=True, special=True), AddedToken("<s>", rstrip=True, normalized=False, special=True)])
    tokenizer.add_tokens([AddedToken("\n", rstrip=True, normalized=False), AddedToken("\t", normalized=False), AddedToken("<tool>", lstrip=True, rstrip=True, normalized=False),
                          AddedToken("User_ID", normalized=True), AddedToken("THE Tok", single_word=True, normalized=True), AddedToken("oken<", single_word=True, normalized=False)])
    return tokenizer


def first_space(normalizer, *steps):
    """Which words begin a text, and so get a space in front, where white space goes before that is asked."""
    tokenizer = fallback_bpe(normalizer, pre_tokenizers.Sequence([*steps, pre_tokenizers.Metaspace(prepend_scheme="first", split=False)]),
                             decoders.Sequence(SP_DECODER), pre_tokenizers.Metaspace())
    add_tokens(tokenizer)
    tokenizer.add_tokens([AddedToken("User_ID", normalized=True)])
    return tokenizer


HUGGING_FACE = {
    "added": added, "first_stripped": lambda: first_space(normalizers.Strip(), pre_tokenizers.Punctuation()),
    "first_replaced": lambda: first_space(normalizers.Sequence([normalizers.Replace(Regex(r"\s+"), " "), normalizers.Replace("th", "x"), normalizers.NFKC()]), pre_tokenizers.WhitespaceSplit()),
    "first_prepended": lambda: first_space(normalizers.Sequence([normalizers.NFD(), normalizers.Prepend("x "), normalizers.StripAccents(), normalizers.Lowercase()]),
                                           pre_tokenizers.Split(" ", "removed"), pre_tokenizers.Punctuation()),
    "gpt2": gpt2, "llama3": llama3, "qwen2": qwen2, "gpt_oss": lambda: plain_splits(O200K), "tekken": lambda: plain_splits(TEKKEN),
    "deepseek": lambda: plain_splits(*DEEPSEEK), "roberta": roberta, "llama2": llama2, "mistral": mistral, "gemma": gemma,
    "bert": lambda: bert(True), "bert_cased": lambda: bert(False), "t5": t5, "unigram": unigram, "word_level": word_level,
}
BOS = {"llama3", "llama2", "mistral", "gemma"}


def write_json(path, value):
    path.write_text(json.dumps(value, ensure_ascii=True, separators=(",", ":")) + "\n")


def write_cases(path, entries):
    path.write_text("[\n" + ",\n".join(json.dumps(e, separators=(",", ":")) for e in entries) + "\n]\n")


def library_case(tokenizer, text, parse=True):
    """What the library makes of a text; without `parse` the spelling of a special token is text as any other."""
    tokenizer.encode_special_tokens = not parse
    ids = tokenizer.encode(text, add_special_tokens=False).ids
    return {"text": text, "ids": ids, "whole": tokenizer.encode(text).ids, "decoded": tokenizer.decode(ids, skip_special_tokens=False)}


def library_cases(tokenizer, texts):
    special = {i for i, token in tokenizer.get_added_tokens_decoder().items() if token.special}
    for text in texts:
        parsed, plain = library_case(tokenizer, text), library_case(tokenizer, text, parse=False)
        yield parsed
        # Unigram models find the spelling in their vocabulary, where it should be text.
        if plain["ids"] != parsed["ids"] and not special.intersection(plain["ids"]):
            yield {"parse": False, **plain}


def hugging_face(name, out, count, keep=False):
    stored = HERE / name / "tokenizer.json"
    tokenizer = Tokenizer.from_file(str(stored)) if keep else HUGGING_FACE[name]()
    folder = out / name
    folder.mkdir(exist_ok=True)
    write_json(folder / "tokenizer.json", json.loads(stored.read_text() if keep else tokenizer.to_str()))
    config = {"tokenizer_class": "PreTrainedTokenizerFast", "model_max_length": 1000, "clean_up_tokenization_spaces": False}
    for key, text in (("bos_token", "<s>"), ("eos_token", "</s>"), ("unk_token", "<unk>"), ("pad_token", "<pad>")):
        if tokenizer.token_to_id(text) is not None:
            config[key] = text
    write_json(folder / "tokenizer_config.json", config)
    fits = normalized_alike(tokenizer) if name == "t5" else lambda text: True
    write_cases(folder / "cases.json", library_cases(tokenizer, filter(fits, FIXED + list(random_texts(count, name)))))


def gguf_sentencepiece(name, kind, options, out, count):
    model = sentencepiece_model(kind, **options)
    processor, proto = sentencepiece.SentencePieceProcessor(model_proto=model), proto_of(model)
    table = {"tokenizer.ggml.model": "llama" if kind == "bpe" else "t5", "tokenizer.ggml.tokens": [p.piece for p in proto.pieces],
             "tokenizer.ggml.scores": [p.score for p in proto.pieces], "tokenizer.ggml.token_type": [p.type for p in proto.pieces],
             "tokenizer.ggml.unknown_token_id": processor.unk_id()}
    if processor.bos_id() >= 0:
        table["tokenizer.ggml.bos_token_id"] = processor.bos_id()
    table["tokenizer.ggml.eos_token_id"] = processor.eos_id()
    if kind == "unigram":
        table["tokenizer.ggml.precompiled_charsmap"] = base64.b64encode(proto.normalizer_spec.precompiled_charsmap).decode()
        table["tokenizer.ggml.remove_extra_whitespaces"] = proto.normalizer_spec.remove_extra_whitespaces
        table["tokenizer.ggml.add_space_prefix"] = proto.normalizer_spec.add_dummy_prefix
        table["tokenizer.ggml.add_bos_token"] = False
        table["tokenizer.ggml.add_eos_token"] = True
    folder = out / name
    folder.mkdir(exist_ok=True)
    write_json(folder / "gguf.json", table)
    entries = []
    for text in FIXED + list(random_texts(count, name)):
        # A zero byte ends a text for the library; around user-defined symbols GGUF's readers put spaces of their own.
        if "\0" not in text and "<tool>" not in text:
            ids = processor.encode(text)
            whole = ([processor.bos_id()] if kind == "bpe" else []) + ids + ([processor.eos_id()] if kind == "unigram" else [])
            entries.append({"text": text, "parse": False, "ids": ids, "whole": whole, "decoded": processor.decode(ids) if kind == "bpe" and 0 not in ids else None})
    write_cases(folder / "cases.json", entries)


def gguf_bert(out, count):
    tokenizer = bert(True)
    vocab = tokenizer.get_vocab()
    tokens = sorted(vocab, key=vocab.get)
    bracketed = [t.startswith("[") and t.endswith("]") and len(t) > 2 for t in tokens]
    # As converters write them: words begin with U+2581, what continues a word has no mark.
    phantom = [t if b else t[2:] if t.startswith("##") and len(t) > 2 else "▁" + t for t, b in zip(tokens, bracketed)]
    table = {"tokenizer.ggml.model": "bert", "tokenizer.ggml.tokens": phantom, "tokenizer.ggml.token_type": [3 if b else 1 for b in bracketed],
             "tokenizer.ggml.cls_token_id": vocab["[CLS]"], "tokenizer.ggml.seperator_token_id": vocab["[SEP]"],
             "tokenizer.ggml.unknown_token_id": vocab["[UNK]"], "tokenizer.ggml.padding_token_id": vocab["[PAD]"], "tokenizer.ggml.mask_token_id": vocab["[MASK]"]}
    folder = out / "gguf_bert"
    folder.mkdir(exist_ok=True)
    write_json(folder / "gguf.json", table)
    write_cases(folder / "cases.json", library_cases(tokenizer, FIXED + list(random_texts(count, "gguf_bert"))))


BEHAVIORS = ["removed", "isolated", "merged_with_previous", "merged_with_next", "contiguous"]  # numbered as SplitBehavior
EMPTY_MATCHES = {
    r"(?=(\d{3})+(?!\d))": ["1234567", "12", "x 123456.7890"], r"(?<=e)": ["the tree", "e", "ee\ne"], r"(?=\p{Lu})": ["aBCd E", "É"],
    r"x*": ["axxb", "xx", "日x本", "ab"], r"x*|b": ["abxb"], r"b|x*": ["abxb", "bb"], r"\s*": ["a  b", " a "], r"^": ["a\nb\n", "\n\n"], r"$": ["a\nb\n", "\n\n"],
    r"(?:)": ["aé\U0001F642", "a"], r"(?=a)|a": ["baab"], r"a|(?=a)": ["baab"], r"\d?": ["1a22"], r"(?<=\d)(?=\D)|(?<=\D)(?=\d)": ["ab12c3", "12"],
    r"(?<![a-z])": ["ab1c2"], r"(?!b)": ["abba"], r" *$": ["a  \n b  ", "a  "],
}


def matches(out):
    splits, replacements = [], []
    for pattern, texts in EMPTY_MATCHES.items():
        for text in texts:
            replacements.append([pattern, text, normalizers.Replace(Regex(pattern), "-").normalize_str(text)])
            for invert in (False, True):
                words = [[word for word, _ in pre_tokenizers.Split(Regex(pattern), b, invert).pre_tokenize_str(text)] for b in BEHAVIORS]
                splits.append([pattern, text, invert, words])
    lines = lambda entries: ",\n".join(json.dumps(e) for e in entries)
    (out / "matches.json").write_text('{"splits": [\n' + lines(splits) + '\n], "replacements": [\n' + lines(replacements) + "\n]}\n")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--random", type=int, default=150)
    parser.add_argument("--out", type=pathlib.Path, default=HERE)
    parser.add_argument("--keep", action="store_true")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    for name in HUGGING_FACE:
        hugging_face(name, options.out, options.random, options.keep)
    matches(options.out)
    if options.keep:
        return
    gguf_sentencepiece("gguf_llama", "bpe", LLAMA, options.out, options.random)
    gguf_sentencepiece("gguf_t5", "unigram", T5, options.out, options.random)
    gguf_bert(options.out, options.random)


if __name__ == "__main__":
    main()
