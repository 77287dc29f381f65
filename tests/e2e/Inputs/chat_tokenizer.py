# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""chat_tokenizer.py FOLDER: writes a tokenizer of single characters whose chat template is the date, or with a system message the number of messages.
chat_tokenizer.py IDS.json: fails unless the prompt in this file, which `generate --ids-out` wrote, is today's."""
import datetime
import json
import os
import sys

CHARACTERS = "0123456789-"  # from token 3 on
path = sys.argv[1]
if os.path.isdir(path):
    vocab = {token: i for i, token in enumerate(["<unk>", "<s>", "</s>", *CHARACTERS])}
    characters = {"type": "Split", "pattern": {"Regex": "."}, "behavior": "Isolated", "invert": False}
    tokenizer = {"version": "1.0", "truncation": None, "padding": None, "added_tokens": [], "normalizer": None, "pre_tokenizer": characters, "post_processor": None,
                 "decoder": None, "model": {"type": "WordLevel", "vocab": vocab, "unk_token": "<unk>"}}
    config = {"tokenizer_class": "PreTrainedTokenizerFast", "clean_up_tokenization_spaces": False, "chat_template": "{{ strftime_now('%Y-%m-%d') if messages[0]['role'] == 'user' else messages | length }}"}
    for name, content in (("tokenizer.json", tokenizer), ("tokenizer_config.json", config)):
        with open(os.path.join(path, name), "w") as out:
            json.dump(content, out)
else:
    with open(path) as file:
        found = "".join(CHARACTERS[i - 3] for i in json.load(file)["prompt_ids"])
    now = datetime.datetime.now()
    if found not in {str(time.date()) for time in (now, now - datetime.timedelta(minutes=10))}:
        sys.exit(f"the prompt is {found}, wanted {now.date()}")
