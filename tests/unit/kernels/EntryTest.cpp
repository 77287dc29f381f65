// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Step entries: layers run in a loop over a table, each with its own weights, states and places; code does not grow
// with depth.
#include "backends/cpu/Entry.h"
#include "tests/unit/kernels/ProgramRunner.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace tilewright;
using namespace tilewright::test;

namespace {

/// A program that calls the layer functions `sequence` names ('a', 'b') one after another, each with a weight and a
/// state of its own, and hands the rows on. `b` has a kernel more than `a`.
std::string programText(const std::string &sequence) {
  std::string text = R"(
    #rows = affine_map<()[n, r, t, l] -> (n)>
    !state = !tw.state<tensor<?x1x8xf32>>
    func.func private @mul(%x: memref<?x8xf32> {tw.dims = ["N", 8], tw.source = ["operand", 0]}, %w: memref<8xf32> {tw.source = ["operand", 1]},
        %p: memref<?x1x8x64xf32> {tw.dims = ["POOL", 1, 8, 64], tw.source = ["state", 2, 0]},
        %y: memref<?x8xf32> {tw.dims = ["N", 8], tw.source = ["result", 0]}, %b: index, %e: index) attributes {tw.kernel} { return }
    func.func private @add(%x: memref<?x8xf32> {tw.dims = ["N", 8], tw.source = ["operand", 0]},
        %y: memref<?x8xf32> {tw.dims = ["N", 8], tw.source = ["result", 0]}, %b: index, %e: index) attributes {tw.kernel} { return }
    func.func private @a(%x: tensor<?x8xf32>, %w: tensor<8xf32>, %s: !state) -> (tensor<?x8xf32>, !state) {
      %t = tw.dispatch @add(%x) chunks #rows : (tensor<?x8xf32>) -> tensor<?x8xf32>
      %y, %s1 = tw.dispatch @mul(%t, %w, %s) chunks #rows : (tensor<?x8xf32>, tensor<8xf32>, !state) -> (tensor<?x8xf32>, !state)
      return %y, %s1 : tensor<?x8xf32>, !state
    }
    func.func private @b(%x: tensor<?x8xf32>, %w: tensor<8xf32>, %s: !state) -> (tensor<?x8xf32>, !state) {
      %t = tw.dispatch @add(%x) chunks #rows : (tensor<?x8xf32>) -> tensor<?x8xf32>
      %u = tw.dispatch @add(%t) chunks #rows : (tensor<?x8xf32>) -> tensor<?x8xf32>
      %y, %s1 = tw.dispatch @mul(%u, %w, %s) chunks #rows : (tensor<?x8xf32>, tensor<8xf32>, !state) -> (tensor<?x8xf32>, !state)
      return %y, %s1 : tensor<?x8xf32>, !state
    }
  )";
  std::string arguments, results, values, body;
  for (size_t i = 0; i < sequence.size(); ++i) {
    const std::string n = std::to_string(i), next = std::to_string(i + 1);
    text += "ml_program.global private @w" + n + "(#ml_program.extern : tensor<8xf32>) : tensor<8xf32>\n";
    arguments += (i ? ", " : "") + ("%s" + n) + ": !state {tw.name = \"s" + n + "\"}";
    results += ", !state";
    values += ", %t" + n;
    body += "%w" + n + " = ml_program.global_load_const @w" + n + " : tensor<8xf32>\n";
    body += "%x" + next + ", %t" + n + " = call @" + sequence[i] + "(%x" + n + ", %w" + n + ", %s" + n +
            ") : (tensor<?x8xf32>, tensor<8xf32>, !state) -> (tensor<?x8xf32>, !state)\n";
  }
  return text + "func.func @step(%in: tensor<?x8xf32> {tw.name = \"tokens\"}, " + arguments + ") -> (tensor<?x8xf32>" +
         results + ") {\n%x0 = tw.dispatch @add(%in) chunks #rows : (tensor<?x8xf32>) -> tensor<?x8xf32>\n" + body +
         "%out = tw.dispatch @add(%x" + std::to_string(sequence.size()) +
         ") chunks #rows : (tensor<?x8xf32>) -> tensor<?x8xf32>\nreturn %out" + values + " : tensor<?x8xf32>" +
         results + "\n}\n";
}

/// The entry of a program, compiled with kernels that do nothing.
class Entry {
public:
  explicit Entry(const std::string &sequence) : Entry(programText(sequence), sequence.size()) {}
  Entry(const std::string &text, size_t depth, const llvm::StringMap<int64_t> &windows = {}) : depth(depth) {
    auto program = mlir::parseSourceString<mlir::ModuleOp>(text, &context());
    if (!program) {
      ADD_FAILURE() << "cannot parse the program";
      return;
    }
    mlir::FailureOr<ProgramPlan> plan = planProgram(*program);
    if (failed(plan)) {
      ADD_FAILURE() << "cannot plan the program";
      return;
    }
    planned = plan->find(program->lookupSymbol("step"))->second.size;
    ProgramTables tables;
    tables.windows = windows;
    for (size_t i = 0; i < depth; ++i) { // in an order of their own
      tables.weights["w" + std::to_string(i)] = static_cast<int64_t>((i * 5 + 2) % depth);
      tables.states["s" + std::to_string(i)] = static_cast<int64_t>(depth - 1 - i);
    }
    code = mlir::ModuleOp::create(program->getLoc());
    auto symbol = [](llvm::StringRef kernel) { return kernel.str() + ".test"; };
    if (failed(emitStepEntry(*program, "step", *plan, tables, "step", symbol, *code))) {
      ADD_FAILURE() << "no entry";
      return;
    }
    code->walk([&](mlir::Operation *) { ++operations; });
    for (llvm::StringRef kernel : {"mul.test", "add.test", "both.test"}) {
      auto function = code->lookupSymbol<mlir::LLVM::LLVMFuncOp>(kernel);
      if (!function)
        continue;
      mlir::OpBuilder b(&context());
      b.setInsertionPointToStart(function.addEntryBlock(b));
      mlir::LLVM::ReturnOp::create(b, function.getLoc(), mlir::ValueRange());
    }
  }

  size_t operations = 0, depth;
  RegionBytes planned;
  mlir::OwningOpRef<mlir::ModuleOp> code;
};

/// What each phase's kernel was given.
struct Trace {
  void *mul = nullptr;  ///< the kernel with four buffers
  void *both = nullptr; ///< the kernel with three; others have two
  std::vector<std::vector<void *>> phases = {};
  size_t stopAfter = SIZE_MAX;
};

/// The code of an entry, compiled and loaded.
struct Loaded {
  explicit Loaded(mlir::ModuleOp code) {
    auto object = emitObject(code, *hostCpuLevels().front());
    if (failed(object))
      return;
    std::vector<ObjectBytes> objects = {std::move(*object), llvm::cantFail(emitMemoryFunctions())};
    llvm::SmallString<128> library;
    llvm::sys::fs::createTemporaryFile("tilewright-entry", "so", library);
    llvm::cantFail(linkSharedObject(objects, library));
    handle = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
    llvm::sys::fs::remove(library);
    if (handle)
      run = reinterpret_cast<tw_abi_entry>(dlsym(handle, "step"));
  }
  ~Loaded() {
    if (handle)
      dlclose(handle);
  }
  Loaded(const Loaded &) = delete;

  void *handle = nullptr;
  tw_abi_entry run = nullptr;
};

int32_t record(tw_abi_step *step, const tw_abi_work *works, int64_t count) {
  auto &trace = *static_cast<Trace *>(step->context);
  EXPECT_EQ(count, 1);
  EXPECT_EQ(works->chunks, 3);
  void *const kernel = reinterpret_cast<void *>(works->kernel);
  trace.phases.emplace_back(works->args, works->args + (kernel == trace.mul ? 4 : kernel == trace.both ? 3 : 2));
  if (trace.phases.size() == trace.stopAfter)
    return 9;
  return 0;
}

/// A step of three rows, recorded in `trace`; tables and what else it needs are the caller's.
tw_abi_step stepOfThree(Trace &trace, std::vector<uint8_t> &arena, float *logits) {
  tw_abi_step step{};
  step.size = sizeof step;
  step.phase = &record;
  step.context = &trace;
  step.rows = step.padded_rows = 3;
  step.arena = arena.data();
  step.logits = logits;
  return step;
}

} // namespace

TEST(Entry, CodeDoesNotGrowWithDepth) {
  const size_t two = Entry("aa").operations;
  EXPECT_EQ(Entry("aaa").operations, two);
  EXPECT_EQ(Entry(std::string(64, 'a')).operations, two);
  // Layers of two structures, in any order. A number that happens to be the same in all of a few layers is no column.
  const size_t mixed = Entry("aababba").operations;
  EXPECT_NEAR(Entry("abababababbabbaababababababababaaaaabbbbbbb").operations, mixed, mixed / 50);
  // One layer needs no table.
  EXPECT_LT(Entry("a").operations, two);
}

TEST(Entry, RunsEachLayerWithItsOwnArguments) {
  for (const std::string sequence : {"a", "aa", "ab", "aba", "aabbabab", "aaaaaaaaaaaaaaaa"}) {
    Entry entry(sequence);
    ASSERT_TRUE(entry.code);
    Loaded loaded(*entry.code);
    ASSERT_TRUE(loaded.run);

    const size_t depth = sequence.size();
    std::vector<char> memory(2 * depth); // addresses to tell apart
    std::vector<void *> weights, states;
    for (size_t i = 0; i < depth; ++i) {
      weights.push_back(&memory[i]);
      states.push_back(&memory[depth + i]);
    }
    std::vector<uint8_t> arena(entry.planned[ArenaRegion::Rows] * 3);
    const int32_t tokens[3] = {};
    float logits[24];
    Trace trace{.mul = dlsym(loaded.handle, "mul.test")};
    ASSERT_TRUE(trace.mul);
    tw_abi_step step = stepOfThree(trace, arena, logits);
    step.tokens = tokens;
    step.weights = weights.data();
    step.states = states.data();
    EXPECT_EQ(loaded.run(&step), 0);

    // @add takes {x, y}; @mul takes {x, w, pool, y}.
    size_t phase = 0;
    auto next = [&] { return phase < trace.phases.size() ? trace.phases[phase++] : std::vector<void *>(4); };
    std::vector<void *> first = next();
    EXPECT_EQ(first[0], static_cast<const void *>(tokens));
    void *before = first[1];
    for (size_t i = 0; i < depth; ++i) {
      for (int added = 0; added < (sequence[i] == 'a' ? 1 : 2); ++added) {
        std::vector<void *> add = next();
        EXPECT_EQ(add[0], before) << sequence << ", layer " << i << " reads what the one before it wrote";
        before = add[1];
        EXPECT_GE(before, static_cast<void *>(arena.data()));
        EXPECT_LT(before, static_cast<void *>(arena.data() + arena.size()));
      }
      std::vector<void *> mul = next();
      ASSERT_EQ(mul.size(), 4u);
      EXPECT_EQ(mul[0], before);
      EXPECT_EQ(mul[1], weights[(i * 5 + 2) % depth]) << sequence << ", layer " << i;
      EXPECT_EQ(mul[2], states[depth - 1 - i]) << sequence << ", layer " << i;
      before = mul[3];
    }
    std::vector<void *> last = next();
    EXPECT_EQ(last[0], before);
    EXPECT_EQ(last[1], static_cast<void *>(logits));
    EXPECT_EQ(phase, trace.phases.size());

    // A cancelled phase ends the step at once.
    const size_t all = trace.phases.size();
    for (size_t stop = 1; stop <= all; ++stop) {
      trace.phases.clear();
      trace.stopAfter = stop;
      EXPECT_EQ(loaded.run(&step), 9);
      EXPECT_EQ(trace.phases.size(), stop);
    }
  }
}

// What only outputs need is done when one of those is wanted; a result that is read inside as well is always made.
TEST(Entry, LeavesOutWhatNobodyWants) {
  const std::string text = R"(
    #rows = affine_map<()[n, r, t, l] -> (n)>
    func.func private @add(%x: memref<?x8xf32> {tw.dims = ["R", 8], tw.source = ["operand", 0]},
        %y: memref<?x8xf32> {tw.dims = ["R", 8], tw.source = ["result", 0]}, %b: index, %e: index) attributes {tw.kernel} { return }
    func.func private @head(%x: tensor<?x8xf32>) -> tensor<?x8xf32> {
      %y = tw.dispatch @add(%x) chunks #rows : (tensor<?x8xf32>) -> tensor<?x8xf32>
      return %y : tensor<?x8xf32>
    }
    func.func @step(%in: tensor<?x8xf32> {tw.name = "tokens"}) -> (tensor<?x8xf32> {tw.name = "hidden"},
        tensor<?x8xf32> {tw.name = "logits"}, tensor<?x8xf32> {tw.name = "first"}, tensor<?x8xf32> {tw.name = "second"}) {
      %hidden = tw.dispatch @add(%in) chunks #rows : (tensor<?x8xf32>) -> tensor<?x8xf32>
      %shared = tw.dispatch @add(%hidden) chunks #rows : (tensor<?x8xf32>) -> tensor<?x8xf32>
      %first = call @head(%shared) : (tensor<?x8xf32>) -> tensor<?x8xf32>
      %logits = tw.dispatch @add(%hidden) chunks #rows : (tensor<?x8xf32>) -> tensor<?x8xf32>
      %second = call @head(%shared) : (tensor<?x8xf32>) -> tensor<?x8xf32>
      return %hidden, %logits, %first, %second : tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>
    })";
  Entry entry(text, 0);
  ASSERT_TRUE(entry.code);
  Loaded loaded(*entry.code);
  ASSERT_TRUE(loaded.run);
  std::vector<uint8_t> arena(entry.planned[ArenaRegion::LogitRows] * 3);
  float tokens[24], logits[24], hidden[24], first[24], second[24];
  const auto inArena = [&](void *at) { return at >= arena.data() && at < arena.data() + arena.size(); };
  for (unsigned wanted = 0; wanted < 8; ++wanted) {
    float *outputs[] = {wanted & 1 ? hidden : nullptr, wanted & 2 ? first : nullptr, wanted & 4 ? second : nullptr};
    Trace trace;
    tw_abi_step step = stepOfThree(trace, arena, logits);
    step.logit_rows = step.padded_logit_rows = 3;
    step.tokens = reinterpret_cast<const int32_t *>(tokens);
    step.outputs = outputs;
    ASSERT_EQ(loaded.run(&step), 0);
    size_t phase = 0;
    const auto next = [&] { return phase < trace.phases.size() ? trace.phases[phase++] : std::vector<void *>(2); };
    std::vector<void *> made = next();
    EXPECT_EQ(made[0], tokens);
    void *const state = made[1], *shared = nullptr;
    EXPECT_TRUE(wanted & 1 ? state == hidden : inArena(state)) << wanted;
    if (wanted & 6) {
      made = next();
      EXPECT_EQ(made[0], state);
      EXPECT_TRUE(inArena(shared = made[1])) << wanted;
    }
    if (wanted & 2)
      EXPECT_EQ(next(), (std::vector<void *>{shared, first})) << wanted;
    EXPECT_EQ(next(), (std::vector<void *>{state, logits})) << wanted;
    if (wanted & 4)
      EXPECT_EQ(next(), (std::vector<void *>{shared, second})) << wanted;
    EXPECT_EQ(phase, trace.phases.size()) << wanted;
  }
}

// A kernel that makes an output beside something else runs without being asked for it: the output has a place then.
TEST(Entry, OutputsMadeBesideOthersHaveAPlace) {
  const std::string text = R"(
    #rows = affine_map<()[n, r, t, l] -> (n)>
    func.func private @add(%x: memref<?x8xf32> {tw.dims = ["R", 8], tw.source = ["operand", 0]},
        %y: memref<?x8xf32> {tw.dims = ["R", 8], tw.source = ["result", 0]}, %b: index, %e: index) attributes {tw.kernel} { return }
    func.func private @both(%x: memref<?x8xf32> {tw.dims = ["R", 8], tw.source = ["operand", 0]},
        %y: memref<?x8xf32> {tw.dims = ["R", 8], tw.source = ["result", 0]},
        %z: memref<?x8xf32> {tw.dims = ["R", 8], tw.source = ["result", 1]}, %b: index, %e: index) attributes {tw.kernel} { return }
    func.func @step(%in: tensor<?x8xf32> {tw.name = "tokens"}) -> (tensor<?x8xf32> {tw.name = "hidden"},
        tensor<?x8xf32> {tw.name = "logits"}, tensor<?x8xf32> {tw.name = "first"}, tensor<?x8xf32> {tw.name = "second"}) {
      %hidden, %inner = tw.dispatch @both(%in) chunks #rows : (tensor<?x8xf32>) -> (tensor<?x8xf32>, tensor<?x8xf32>)
      %logits = tw.dispatch @add(%inner) chunks #rows : (tensor<?x8xf32>) -> tensor<?x8xf32>
      %first, %second = tw.dispatch @both(%inner) chunks #rows : (tensor<?x8xf32>) -> (tensor<?x8xf32>, tensor<?x8xf32>)
      return %hidden, %logits, %first, %second : tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>
    })";
  Entry entry(text, 0);
  ASSERT_TRUE(entry.code);
  Loaded loaded(*entry.code);
  ASSERT_TRUE(loaded.run);
  std::vector<uint8_t> arena(entry.planned[ArenaRegion::LogitRows] * 3);
  float tokens[24], logits[24], hidden[24], first[24], second[24];
  const auto inArena = [&](void *at) { return at >= arena.data() && at < arena.data() + arena.size(); };
  for (unsigned wanted = 0; wanted < 8; ++wanted) {
    float *outputs[] = {wanted & 1 ? hidden : nullptr, wanted & 2 ? first : nullptr, wanted & 4 ? second : nullptr};
    Trace trace{.both = dlsym(loaded.handle, "both.test")};
    tw_abi_step step = stepOfThree(trace, arena, logits);
    step.logit_rows = step.padded_logit_rows = 3;
    step.tokens = reinterpret_cast<const int32_t *>(tokens);
    step.outputs = outputs;
    ASSERT_EQ(loaded.run(&step), 0);
    ASSERT_EQ(trace.phases.size(), wanted & 6 ? 3u : 2u) << wanted;
    const std::vector<void *> &made = trace.phases[0];
    EXPECT_EQ(made[0], tokens);
    EXPECT_TRUE(wanted & 1 ? made[1] == hidden : inArena(made[1])) << wanted;
    EXPECT_TRUE(inArena(made[2]) && made[2] != made[1]) << wanted;
    EXPECT_EQ(trace.phases[1], (std::vector<void *>{made[2], logits})) << wanted;
    if (wanted & 6) {
      const std::vector<void *> &last = trace.phases[2];
      EXPECT_EQ(last[0], made[2]) << wanted;
      EXPECT_TRUE(wanted & 2 ? last[1] == first : inArena(last[1])) << wanted;
      EXPECT_TRUE(wanted & 4 ? last[2] == second : inArena(last[2])) << wanted;
    }
  }
}

// Page tables and row slots are those of the state that a kernel takes: of its window, or of all that have none.
TEST(Entry, GivesEachKernelTheTablesOfItsState) {
  std::string text = R"(
    #rows = affine_map<()[n, r, t, l] -> (n)>
    !state = !tw.state<tensor<?x1x8xf32>>
    func.func private @mul(%p: memref<?x1x8x64xf32> {tw.dims = ["POOL", 1, 8, 64], tw.source = ["state", 0, 0]},
        %pages: memref<?xi32> {tw.dims = ["P"], tw.source = ["table", "pages"]},
        %slots: memref<?x2xi32> {tw.dims = ["N", 2], tw.source = ["table", "row_slots"]},
        %y: memref<?x8xf32> {tw.dims = ["N", 8], tw.source = ["result", 0]}, %b: index, %e: index) attributes {tw.kernel} { return }
    func.func private @layer(%s: !state) -> (tensor<?x8xf32>, !state) {
      %y, %t = tw.dispatch @mul(%s) chunks #rows : (!state) -> (tensor<?x8xf32>, !state)
      return %y, %t : tensor<?x8xf32>, !state
    }
  )";
  constexpr size_t depth = 6;
  const llvm::StringMap<int64_t> windows = {{"s1", 1}, {"s3", 0}, {"s4", 1}};
  std::string arguments, body, results = "tensor<?x8xf32>", values = "%y5";
  for (size_t i = 0; i < depth; ++i) {
    const std::string n = std::to_string(i);
    arguments += (i ? ", %s" : "%s") + n + ": !state {tw.name = \"s" + n + "\"}";
    results += ", !state";
    values += ", %t" + n;
    body += "%y" + n + ", %t" + n + " = call @layer(%s" + n + ") : (!state) -> (tensor<?x8xf32>, !state)\n";
  }
  text += "func.func @step(" + arguments + ") -> (" + results + ") {\n" + body + "return " + values + " : " + results +
          "\n}\n";
  Entry entry(text, depth, windows);
  ASSERT_TRUE(entry.code);
  Loaded loaded(*entry.code);
  ASSERT_TRUE(loaded.run);
  std::vector<uint8_t> arena(entry.planned[ArenaRegion::Rows] * 3 + 1);
  float logits[24];
  char memory[depth];
  std::vector<void *> states;
  for (char &each : memory)
    states.push_back(&each);
  int32_t tables[6] = {};
  const int32_t *windowPages[] = {&tables[0], &tables[1]}, *windowRowSlots[] = {&tables[2], &tables[3]};
  Trace trace{.mul = dlsym(loaded.handle, "mul.test")};
  tw_abi_step step = stepOfThree(trace, arena, logits);
  step.states = states.data();
  step.pages = &tables[4];
  step.row_slots = &tables[5];
  step.window_pages = windowPages;
  step.window_row_slots = windowRowSlots;
  ASSERT_EQ(loaded.run(&step), 0);
  ASSERT_EQ(trace.phases.size(), depth);
  for (size_t i = 0; i < depth; ++i) {
    const auto window = windows.find("s" + std::to_string(i));
    const bool has = window != windows.end();
    EXPECT_EQ(trace.phases[i][0], states[depth - 1 - i]);
    EXPECT_EQ(trace.phases[i][1], &tables[has ? window->second : 4]) << i;
    EXPECT_EQ(trace.phases[i][2], &tables[has ? 2 + window->second : 5]) << i;
  }
}

TEST(Entry, RefusesTablesOfNoStateAndOfTwo) {
  for (bool two : {false, true}) {
    const std::string states = two ? "!state, !state" : "";
    auto program = mlir::parseSourceString<mlir::ModuleOp>(
        R"(
    #rows = affine_map<()[n, r, t, l] -> (n)>
    !state = !tw.state<tensor<?x1x8xf32>>
    func.func private @read(%pages: memref<?xi32> {tw.dims = ["P"], tw.source = ["table", "pages"]},
        %y: memref<?x8xf32> {tw.dims = ["N", 8], tw.source = ["result", 0]}, %b: index, %e: index) attributes {tw.kernel} { return }
    func.func @step(%s0: !state {tw.name = "s0"}, %s1: !state {tw.name = "s1"}) -> tensor<?x8xf32> {
      %y = tw.dispatch @read()" +
            std::string(two ? "%s0, %s1" : "") + ") chunks #rows : (" + states +
            R"() -> tensor<?x8xf32>
      return %y : tensor<?x8xf32>
    })",
        &context());
    ASSERT_TRUE(program);
    mlir::FailureOr<ProgramPlan> plan = planProgram(*program);
    ASSERT_TRUE(succeeded(plan));
    ProgramTables tables;
    tables.states["s0"] = 0;
    tables.states["s1"] = 1;
    tables.windows["s1"] = 0;
    std::string said;
    mlir::ScopedDiagnosticHandler handler(&context(), [&](mlir::Diagnostic &diagnostic) { said += diagnostic.str(); });
    mlir::OwningOpRef<mlir::ModuleOp> code = mlir::ModuleOp::create(program->getLoc());
    EXPECT_TRUE(failed(emitStepEntry(
        *program, "step", *plan, tables, "step", [](llvm::StringRef kernel) { return kernel.str(); }, *code)));
    EXPECT_NE(
        said.find(two ? "has states of two windows; wanted those of one" : "reads a table of a state, but takes none"),
        std::string::npos)
        << said;
  }
}
