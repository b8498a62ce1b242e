#!/usr/bin/env python3
"""Draws the QR code of a login page: reads HTML from standard input, writes a picture in PBM to standard output."""

import re
import sys

SCALE = 4

page = sys.stdin.read()
code = re.search(r'<svg class="code" viewBox="0 0 (\d+) \d+".*?fill="#000" d="([^"]*)"', page)
if code is None:
    sys.exit("svg_to_pbm: there is no QR code in this page")
side = int(code[1])
rows = [[0] * side for _ in range(side)]
for x, y, run in re.findall(r"M(\d+) (\d+)h(\d+)v1", code[2]):
    for column in range(int(x), int(x) + int(run)):
        rows[int(y)][column] = 1
print("P1", side * SCALE, side * SCALE)
for row in rows:
    line = " ".join(str(module) for module in row for _ in range(SCALE))
    for _ in range(SCALE):
        print(line)
