# Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Makes gpt2_tiny/: a small GPT-2 of transformers, with tied and with untied
# embeddings, its loss, gradients and trained parameters in f64. Checks on the way that f32
# leaves room for the comparison: at most a third of each allowance.

import array
import json
import os
import shutil
import sys
import tempfile

import torch
from safetensors.torch import save_file
from transformers import GPT2Config, GPT2LMHeadModel
from transformers.utils import logging

import compare

HERE = os.path.dirname(os.path.abspath(__file__))
STEPS, BATCH, SEQ, VOCAB = 20, 4, 12, 61
IGNORED = -100  # what PyTorch ignores; the files say -1


def makeConfig(tied):
    return GPT2Config(
        vocab_size=VOCAB, n_positions=24, n_embd=32, n_layer=2, n_head=4, n_inner=72,
        activation_function="gelu_new", attn_pdrop=0.0, resid_pdrop=0.0, embd_pdrop=0.0,
        layer_norm_epsilon=1e-5, tie_word_embeddings=tied, use_cache=False,
        bos_token_id=0, eos_token_id=0)  # fmt: skip


def makeData():
    """tokens [steps, batch, seq] and labels: the next token, every fifth ignored. By formula."""
    s = torch.arange(STEPS).view(-1, 1, 1)
    b = torch.arange(BATCH).view(1, -1, 1)
    i = torch.arange(SEQ + 1).view(1, 1, -1)
    text = (7 * s + 13 * b + 5 * i + (s + 2 * b) * i * i) % VOCAB
    labels = text[:, :, 1:].clone()
    labels[((s + 3 * b + i[:, :, 1:]) % 5) == 0] = -1
    return text[:, :, :-1].to(torch.int32), labels.to(torch.int32)


def fillWeights(model, seed):
    """Nothing is zero or one, so that no term can be left out unseen."""
    generator = torch.Generator().manual_seed(seed)
    for name, p in model.named_parameters():
        noise = torch.randn(p.shape, generator=generator, dtype=torch.float32)
        if ".ln_" in name:
            p.data.copy_(0.1 * noise + (1.0 if name.endswith("weight") else 0.0))
        elif p.dim() == 1:
            p.data.copy_(0.1 * noise)
        else:
            p.data.copy_((0.3 if "wpe" in name else 0.2) * noise)


def forward(model, tokens, labels):
    logits = model(input_ids=tokens.long(), use_cache=False).logits
    assert logits.dtype == next(model.parameters()).dtype
    target = labels.long().masked_fill(labels < 0, IGNORED).flatten()
    loss = torch.nn.functional.cross_entropy(logits.flatten(0, 1), target, ignore_index=IGNORED)
    return loss, logits


def norm(model):
    return torch.sqrt(sum((p.grad.double() ** 2).sum() for p in model.parameters())).item()


def train(model, data, optimizer, clip):
    """Runs all steps; returns the parameters and one line of metrics per step."""
    lines = []
    for step, (tokens, labels) in enumerate(zip(*data)):
        loss, _ = forward(model, tokens, labels)
        optimizer.zero_grad()
        loss.backward()
        lines.append({"step": step, "loss": loss.item(), "grad_norm": norm(model), "tokens": int((labels >= 0).sum())})
        if clip:
            torch.nn.utils.clip_grad_norm_(model.parameters(), clip)
        optimizer.step()
    return {n: p.detach().clone() for n, p in model.named_parameters()}, lines


def run(load, data):
    """Everything that is compared, of a model that `load` makes anew for each part."""
    model = load()
    loss, logits = forward(model, data[0][0], data[1][0])
    loss.backward()
    out = {
        "outputs": {"loss": loss.detach()},
        "logits": {"logits": logits.detach()},
        "gradients": {n: p.grad.clone() for n, p in model.named_parameters()},
    }
    model = load()
    out["sgd"], sgdLines = train(model, data, torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9), None)
    model = load()
    groups = [
        {"params": [p for p in model.parameters() if p.dim() >= 2], "weight_decay": 0.1},
        {"params": [p for p in model.parameters() if p.dim() < 2], "weight_decay": 0.0},
    ]
    adamw = torch.optim.AdamW(groups, lr=1e-3, betas=(0.9, 0.999), eps=1e-5)
    out["adamw"], adamwLines = train(model, data, adamw, 1.0)
    return out, {"sgd": sgdLines, "adamw": adamwLines}


def checkRoom(variant, single, double):
    for part in double:
        for name, ref in double[part].items():
            a, r = (array.array("d", t[part][name].double().flatten().tolist()) for t in (single, double))
            if part == "adamw":
                use, _ = compare.worst(a, r, lambda _: 0.05 * 1e-3)
            else:
                use, _ = compare.matchUse(a, r, False)
            yield use, f"{variant} {part} {name}"


def makeVariant(variant, tied, data, seed):
    folder = os.path.join(HERE, "gpt2_tiny", variant)
    os.makedirs(folder, exist_ok=True)
    model = GPT2LMHeadModel(makeConfig(tied)).float()
    fillWeights(model, seed)
    with tempfile.TemporaryDirectory() as saved:
        model.save_pretrained(saved)
        shutil.copyfile(os.path.join(saved, "model.safetensors"), os.path.join(folder, "weights.safetensors"))
        shutil.copyfile(os.path.join(saved, "config.json"), os.path.join(folder, "config.json"))

        def load(dtype):
            made = GPT2LMHeadModel.from_pretrained(saved, attn_implementation="eager").to(dtype)
            return made.train()

        double, lines = run(lambda: load(torch.float64), data)
        single, _ = run(lambda: load(torch.float32), data)
    for part, tensors in double.items():
        save_file({n: t.contiguous() for n, t in tensors.items()}, os.path.join(folder, f"expected-{part}.safetensors"))
    for part, steps in lines.items():
        with open(os.path.join(folder, f"expected-{part}.jsonl"), "w") as file:
            file.writelines(json.dumps(line) + "\n" for line in steps)
    assert min(line["grad_norm"] for line in lines["adamw"]) > 1, "clipping is not active in every step"
    print(variant, "loss", lines["sgd"][0]["loss"], "to", lines["sgd"][-1]["loss"], "(sgd),", lines["adamw"][-1]["loss"], "(adamw)")
    print(variant, "norms", [round(line["grad_norm"], 2) for line in lines["adamw"]])
    return list(checkRoom(variant, single, double))


def main():
    torch.set_num_threads(1)
    os.umask(0o022)
    logging.disable_progress_bar()
    data = makeData()
    os.makedirs(os.path.join(HERE, "gpt2_tiny"), exist_ok=True)
    save_file(dict(zip(("tokens", "labels"), data)), os.path.join(HERE, "gpt2_tiny", "inputs.safetensors"))
    rows = makeVariant("tied", True, data, 6) + makeVariant("untied", False, data, 4)
    rows.sort(reverse=True)
    for use, what in rows[:8]:
        print(f"{use:.3f} of the allowance: {what} in f32")
    if rows[0][0] > 1 / 3:
        sys.exit("f32 leaves too little room: change the scale of the weights")


if __name__ == "__main__":
    main()
