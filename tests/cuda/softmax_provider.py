"""Offers a kernel for softmax as Triton does, made by hand: for tests without Triton.

  softmax_provider.py MODE [FOLDER]

Each executable that it is asked for leaves a file in FOLDER.
"""

import math
import os
import pathlib
import signal
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1] / "examples/byo/triton"))

# A block for each row, of which one thread works: it is right, and that is all.
PTX = """.version 7.0
.target sm_80
.address_size 64
.visible .entry softmax(.param .u64 softmax_x, .param .u64 softmax_y)
.reqntid 32, 1, 1
{
	.reg .pred %p<3>;
	.reg .b32 %r<8>;
	.reg .f32 %f<8>;
	.reg .b64 %rd<8>;
	mov.u32 %r1, %tid.x;
	setp.ne.u32 %p1, %r1, 0;
	@%p1 bra $end;
	ld.param.u64 %rd1, [softmax_x];
	ld.param.u64 %rd2, [softmax_y];
	cvta.to.global.u64 %rd1, %rd1;
	cvta.to.global.u64 %rd2, %rd2;
	mov.u32 %r2, %ctaid.x;
	mul.wide.u32 %rd3, %r2, BYTES;
	add.s64 %rd1, %rd1, %rd3;
	add.s64 %rd2, %rd2, %rd3;
	mov.f32 %f1, 0fFF800000;
	mov.u32 %r3, 0;
	mov.u64 %rd4, %rd1;
$largest:
	ld.global.f32 %f2, [%rd4];
	max.f32 %f1, %f1, %f2;
	add.s64 %rd4, %rd4, 4;
	add.u32 %r3, %r3, 1;
	setp.lt.u32 %p2, %r3, COLUMNS;
	@%p2 bra $largest;
	mov.f32 %f3, 0f00000000;
	mov.u32 %r3, 0;
	mov.u64 %rd4, %rd1;
	mov.u64 %rd5, %rd2;
$sum:
	ld.global.f32 %f2, [%rd4];
	sub.f32 %f2, %f2, %f1;
	mul.f32 %f2, %f2, 0f3FB8AA3B;
	ex2.approx.f32 %f2, %f2;
	add.f32 %f3, %f3, %f2;
	st.global.f32 [%rd5], %f2;
	add.s64 %rd4, %rd4, 4;
	add.s64 %rd5, %rd5, 4;
	add.u32 %r3, %r3, 1;
	setp.lt.u32 %p2, %r3, COLUMNS;
	@%p2 bra $sum;
	mov.u32 %r3, 0;
	mov.u64 %rd5, %rd2;
$divide:
	ld.global.f32 %f2, [%rd5];
	div.rn.f32 %f2, %f2, %f3;
	st.global.f32 [%rd5], %f2;
	add.s64 %rd5, %rd5, 4;
	add.u32 %r3, %r3, 1;
	setp.lt.u32 %p2, %r3, COLUMNS;
	@%p2 bra $divide;
$end:
	ret;
}
"""
EDITS = {
    "good": lambda text: text,
    # The sum begins with 1.
    "wrong": lambda text: text.replace("mov.f32 %f3, 0f00000000", "mov.f32 %f3, 0f3F800000"),
    "outside": lambda text: text.replace("add.s64 %rd2, %rd2, %rd3", "mov.u64 %rd2, 64"),
    "parameters": lambda text: text.replace("softmax_y)", "softmax_y, .param .u64 more)"),
    "truncated": lambda text: text[: text.index("$divide")],
    "unknown": lambda text: text.replace("max.f32", "largest.f32"),
}


def main() -> None:
    mode, *folder = sys.argv[1:]
    for each in folder:
        (pathlib.Path(each) / os.environ["ALULA_EXECUTABLE"]).touch()
    program = sys.stdin.read()
    if mode == "decline":
        sys.exit(86)
    if mode == "killed":
        os.kill(os.getpid(), signal.SIGKILL)
    if mode == "late":
        time.sleep(60)
    if mode == "fail":
        sys.exit("no kernel today")
    if mode == "garbage":
        print("Traceback")
        return
    import softmax

    shape, _ = softmax.read_shape(program)
    text = PTX.replace("BYTES", str(4 * shape[-1])).replace("COLUMNS", str(shape[-1]))
    texts = {"sm_80": EDITS[mode](text)}
    print(softmax.attach(program, texts, math.prod(shape[:-1]), 32, "by hand"))


if __name__ == "__main__":
    main()
