// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The PTX emulator: control flow, memory, matrix products, and that it refuses what it does not model.
#include "tests/ptx/Machine.h"
#include "tests/ptx/Values.h"

#include <gtest/gtest.h>
#include <numeric>

using namespace tilewright::ptx;

namespace {

/// A kernel with parameters p_param_0, p_param_1 (addresses) around `body`.
std::string kernel(const std::string &body, const std::string &shared = "") {
  return ".version 7.0\n.target sm_80\n.address_size 64\n" + shared +
         ".visible .entry p(\n\t.param .u64 p_param_0,\n\t.param .u64 p_param_1\n)\n{\n\t.reg .pred %p<9>;\n\t.reg "
         ".b32 %r<99>;\n"
         "\tld.param.b64 %rd1, [p_param_0];\n\tld.param.b64 %rd2, [p_param_1];\n\tmov.u32 %r1, %tid.x;\n"
         "\tmul.wide.u32 %rd3, %r1, 4;\n\tadd.s64 %rd4, %rd1, %rd3; // own number of the first array\n"
         "\tadd.s64 %rd5, %rd2, %rd3;\n" +
         body + "\n\tret;\n}\n";
}

/// Runs the kernel over two arrays; returns the error, or nothing.
std::string run(const std::string &text, std::vector<uint32_t> &first, std::vector<uint32_t> &second, int threads = 32,
                int64_t blocks = 1) {
  auto [machine, error] = Machine::create(text);
  if (!machine)
    return error;
  machine->allow(first.data(), first.size() * 4);
  machine->allow(second.data(), second.size() * 4);
  Machine::Launch launch{
      "p", {reinterpret_cast<uint64_t>(first.data()), reinterpret_cast<uint64_t>(second.data())}, blocks, threads, 0};
  return machine->run(launch).value_or("");
}

std::vector<uint32_t> numbers(size_t count) {
  std::vector<uint32_t> made(count);
  std::iota(made.begin(), made.end(), 0);
  return made;
}

} // namespace

TEST(PtxMachine, LanesMeetAgainBehindBranches) {
  std::vector<uint32_t> in = numbers(32), out(32);
  // Lanes count their own number of rounds; the shuffle behind the loop needs all of them.
  std::string text = kernel(R"(
	mov.b32 %r2, 0;
	mov.b32 %r3, 0;
$L__top:
	setp.ge.u32 %p1, %r2, %r1;
	@%p1 bra $L__done;
	add.s32 %r3, %r3, 2;
	add.s32 %r2, %r2, 1;
	bra.uni $L__top;
$L__done:
	shfl.sync.bfly.b32 %r4, %r3, 1, 31, -1;
	st.global.b32 [%rd5], %r4;)");
  EXPECT_EQ(run(text, in, out), "");
  for (uint32_t lane = 0; lane < 32; ++lane)
    EXPECT_EQ(out[lane], 2 * (lane ^ 1));
}

TEST(PtxMachine, PredicatesSelectLanes) {
  std::vector<uint32_t> in = numbers(32), out(32, 7);
  EXPECT_EQ(run(kernel("\tsetp.lt.u32 %p1, %r1, 5;\n\t@!%p1 st.global.b32 [%rd5], %r1;"), in, out), "");
  for (uint32_t lane = 0; lane < 32; ++lane)
    EXPECT_EQ(out[lane], lane < 5 ? 7 : lane);
}

TEST(PtxMachine, UnknownInstructionsAreNamed) {
  std::vector<uint32_t> in(32), out(32);
  EXPECT_EQ(run(kernel("\ttanh.approx.f32 %r2, %r1;"), in, out),
            "kernel 'p': instruction 'tanh.approx.f32 %r2, %r1' is not known to the emulator");
  EXPECT_EQ(run(kernel("\tcvt.sat.u8.s32 %r2, %r1;"), in, out),
            "kernel 'p': instruction 'cvt.sat.u8.s32 %r2, %r1' is not known to the emulator");
  EXPECT_NE(run(kernel(".local .align 4 .b8 depot[64];"), in, out).find("keep nothing in local memory"),
            std::string::npos);
}

TEST(PtxMachine, MemoryThatWasNotGivenIsRefused) {
  std::vector<uint32_t> in(31), out(32);
  EXPECT_EQ(run(kernel("\tld.global.b32 %r2, [%rd4];\n\tst.global.b32 [%rd5], %r2;"), in, out),
            "kernel 'p': thread 31 reads global memory that it was not given");
  std::vector<uint32_t> whole(32), part(16);
  EXPECT_EQ(run(kernel("\tst.global.b32 [%rd5], %r1;"), whole, part),
            "kernel 'p': thread 16 writes global memory that it was not given");
  EXPECT_EQ(run(kernel("\tld.global.b32 %r2, [%rd4+2];"), whole, part),
            "kernel 'p': thread 0 accesses 4 bytes that do not lie on their size");
}

TEST(PtxMachine, SharedMemoryNeedsBarriers) {
  std::string shared = ".shared .align 4 .b8 tile[256];\n";
  auto text = [&](const std::string &between) {
    return kernel(
        "\tcvt.u32.u64 %r9, %rd3;\n\tmov.b32 %r8, tile;\n\tadd.s32 %r9, %r9, %r8;\n\tld.global.b32 %r2, [%rd4];\n"
        "\tst.shared.b32 [%r9], %r2;\n" +
            between +
            "\n\txor.b32 %r9, %r9, 128;\n\tld.shared.b32 %r3, [%r9];\n"
            "\tst.global.b32 [%rd5], %r3;",
        shared);
  };
  std::vector<uint32_t> in = numbers(64), out(64);
  EXPECT_EQ(run(text("\tbar.sync 0;"), in, out, 64), "");
  for (uint32_t thread = 0; thread < 64; ++thread)
    EXPECT_EQ(out[thread], thread ^ 32);
  EXPECT_NE(run(text(""), in, out, 64).find("with no barrier between them"), std::string::npos);
  // Lanes that leave a loop early wait for the others, wherever the code stands; two barriers are not one.
  EXPECT_EQ(run(text("\tmov.b32 %r4, 0;\n\tbra.uni $L__loop;\n$L__out:\n\tbar.sync 0;\n\tbra.uni $L__on;\n$L__loop:\n"
                     "\tadd.s32 %r4, %r4, 1;\n\tsetp.gt.u32 %p1, %r4, %r1;\n\t@%p1 bra $L__out;\n\tbra.uni "
                     "$L__loop;\n$L__on:"),
                in, out, 64),
            "");
  EXPECT_EQ(run(text("\tsetp.lt.u32 %p1, %r1, 40;\n\t@%p1 bra $L__in;\n\tbar.sync 0;\n\tbra.uni $L__out;\n$L__in:\n"
                     "\tbar.sync 0;\n$L__out:"),
                in, out, 64)
                .find("kernel 'p': 'bar.sync 0' is executed by some lanes of a warp only"),
            0u);
}

TEST(PtxMachine, MatrixProductOfBytes) {
  // A holds row + column, B holds 1 on the diagonal of its first 8 rows: D is A's first 8 columns.
  std::vector<uint32_t> in(32 * 3), out(32 * 4);
  for (int lane = 0; lane < 32; ++lane)
    for (int item = 0; item < 4; ++item) {
      int group = lane / 4, k = lane % 4 * 4 + item;
      in[lane * 3] |= (group + k) << (8 * item);
      in[lane * 3 + 1] |= (group + 8 + k) << (8 * item);
      in[lane * 3 + 2] |= (k == group) << (8 * item);
    }
  std::string text = kernel(R"(
	mul.wide.u32 %rd6, %r1, 12;
	add.s64 %rd6, %rd1, %rd6;
	ld.global.b32 %r2, [%rd6];
	ld.global.b32 %r3, [%rd6+4];
	ld.global.b32 %r4, [%rd6+8];
	mov.b32 %r5, 100;
	mma.sync.aligned.m16n8k16.row.col.s32.s8.u8.s32 {%r6, %r7, %r8, %r9}, {%r2, %r3}, {%r4}, {%r5, %r5, %r5, %r5};
	mul.wide.u32 %rd6, %r1, 16;
	add.s64 %rd6, %rd2, %rd6;
	st.global.v4.b32 [%rd6], {%r6, %r7, %r8, %r9};)");
  ASSERT_EQ(run(text, in, out), "");
  for (int lane = 0; lane < 32; ++lane)
    for (int i = 0; i < 4; ++i)
      EXPECT_EQ(out[lane * 4 + i], 100u + lane / 4 + 8 * (i / 2) + lane % 4 * 2 + i % 2);
}

TEST(PtxMachine, ConvertsAsThePtxIsaSays) {
  EXPECT_EQ(fromHalf(toHalf(1.0f)), 1.0f);
  EXPECT_EQ(toHalf(65520.0f), 0x7c00);
  EXPECT_EQ(toHalf(5.9604645e-8f), 1);
  EXPECT_EQ(toHalf(0.33333334f), 0x3555);
  EXPECT_EQ(toBf16(1.00390625f), 0x3f80) << "ties go to even";
  EXPECT_EQ(toTf32(fromBits<float>(0x3f801000)), 0x3f802000u) << "ties go away from zero";
  std::vector<uint32_t> in(32), out(32);
  for (auto [bits, want] : std::vector<std::pair<uint32_t, uint32_t>>{
           {0x4b800000, 127}, {0xcb800000, 0x80}, {0x7fc00000, 0}, {0xbfc00000, 0xff}}) {
    in[0] = bits;
    EXPECT_EQ(run(kernel("\tld.global.b32 %r2, [%rd4];\n\tcvt.rzi.s8.f32 %r3, %r2;\n\tand.b32 %r3, %r3, "
                         "255;\n\tst.global.b32 [%rd5], %r3;"),
                  in, out),
              "");
    EXPECT_EQ(out[0], want);
  }
}

// y and z end at 65,535 blocks on every GPU, x at 2^31 - 1: kernels are to count by x alone.
TEST(PtxMachine, GridsOfOneDimensionBehind65535) {
  std::vector<uint32_t> in(32), out(70000);
  const std::string body = "\tmov.u32 %r2, %ctaid.x;\n\tmul.wide.u32 %rd6, %r2, 4;\n\tadd.s64 %rd6, %rd2, %rd6;\n"
                           "\tst.global.b32 [%rd6], %r2;";
  EXPECT_EQ(run(kernel(body), in, out, 32, static_cast<int64_t>(out.size())), "");
  EXPECT_EQ(out, numbers(out.size()));
  for (const char *other : {"%ctaid.y", "%ctaid.z", "%nctaid.y"})
    EXPECT_EQ(run(kernel(std::string("\tmov.u32 %r2, ") + other + ";"), in, out),
              std::string("kernel 'p': special register '") + other + "' is not known to the emulator");
}

TEST(PtxMachine, LaunchesThatDoNotFitAreRefused) {
  auto [machine, error] = Machine::create(kernel(""));
  ASSERT_TRUE(machine) << error;
  EXPECT_EQ(machine->run({"q", {}, 1, 32, 0}).value_or(""), "the program has no kernel 'q'");
  EXPECT_EQ(machine->run({"p", {1}, 1, 32, 0}).value_or(""), "kernel 'p' takes 2 parameters, 1 given");
  EXPECT_EQ(Machine::create(".visible .func f() {}").second,
            "line 1: module holds '.visible .func f', which the emulator does not know");
}
