# Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# The peer of the step benchmark: the training step of a GPT-2 in plain PyTorch.
# For every line "step" on standard input one step is run and "WALL-MS CPU-MS
# LOSS" printed.

import argparse
import sys
import time

import torch
import torch.nn.functional as F
from torch import nn


class Block(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.ln_1, self.ln_2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x):
        batch, length, width = x.shape
        parts = self.qkv(self.ln_1(x)).split(width, dim=2)
        q, k, v = (part.view(batch, length, self.heads, -1).transpose(1, 2) for part in parts)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(y.transpose(1, 2).reshape(batch, length, width))
        return x + self.down(F.gelu(self.up(self.ln_2(x)), approximate="tanh"))


class GPT2(nn.Module):
    def __init__(self, layers, width, heads, vocabulary, length):
        super().__init__()
        self.wte, self.wpe = nn.Embedding(vocabulary, width), nn.Embedding(length, width)
        self.blocks = nn.ModuleList(Block(width, heads) for _ in range(layers))
        self.ln_f = nn.LayerNorm(width)
        for parameter in self.parameters():
            if parameter.dim() > 1:
                nn.init.normal_(parameter, std=0.02)

    def forward(self, tokens, labels):
        x = self.wte(tokens) + self.wpe.weight
        for block in self.blocks:
            x = block(x)
        logits = F.linear(self.ln_f(x), self.wte.weight)
        return F.cross_entropy(logits.flatten(0, 1), labels.flatten())


def main():
    parser = argparse.ArgumentParser()
    for name in ("layers", "width", "heads", "vocabulary", "batch", "length", "threads"):
        parser.add_argument(f"--{name}", type=int, required=True)
    parser.add_argument("--data", required=True)
    parser.add_argument("--compile", action="store_true")
    args = parser.parse_args()
    torch.set_num_threads(args.threads)
    torch.manual_seed(0)
    model = GPT2(args.layers, args.width, args.heads, args.vocabulary, args.length)
    decayed = [p for p in model.parameters() if p.dim() > 1]
    others = [p for p in model.parameters() if p.dim() <= 1]
    optimizer = torch.optim.AdamW(
        [{"params": decayed, "weight_decay": 0.1}, {"params": others, "weight_decay": 0.0}],
        lr=1e-3, fused=True)
    forward = torch.compile(model) if args.compile else model
    data = torch.frombuffer(bytearray(open(args.data, "rb").read()), dtype=torch.uint8)
    data = data.to(torch.int64)
    count = args.batch * args.length

    def step(iteration):
        at = iteration * count % (len(data) - count - 1)
        shape = (args.batch, args.length)
        tokens = data[at:at + count].view(shape)
        labels = data[at + 1:at + count + 1].view(shape)
        optimizer.zero_grad(set_to_none=True)
        loss = forward(tokens, labels)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        return loss.item()

    if args.compile:
        step(0)
    print("ready PyTorch", torch.__version__, flush=True)
    for iteration, _ in enumerate(sys.stdin):
        wall, cpu = time.monotonic(), time.process_time()
        loss = step(iteration)
        wall, cpu = time.monotonic() - wall, time.process_time() - cpu
        print(f"{1e3 * wall:.3f} {1e3 * cpu:.3f} {loss:.9g}", flush=True)


if __name__ == "__main__":
    main()
