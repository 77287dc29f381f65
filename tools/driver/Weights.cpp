// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Weights, states and results of an artifact: from the module's globals, arguments and results to the manifest's tables
// and model.tww.
#include "tools/driver/Compiler.h"

#include "ir/interfaces/Interfaces.h"
#include "ir/tw/RowCount.h"
#include "ir/tw/StepResults.h"
#include "ir/tw/TableIds.h"
#include "ir/tw/Tw.h"
#include "mlir/Dialect/MLProgram/IR/MLProgram.h"
#include "passes/api/CompileTrace.h"
#include "runtime/api/abi.h"
#include "tools/driver/Manifest.h"

#include "llvm/ADT/ScopeExit.h"

using namespace mlir;

namespace tilewright::driver {

std::vector<std::string> entriesOf(const graph::Graph &graph) {
  std::vector<std::string> entries = {graph.entry()->str()};
  if (graph.encode_entry() && graph.encode_entry()->size() > 0)
    entries.push_back(graph.encode_entry()->str());
  return entries;
}

/// The manifest's input of this name, which entry number `entry` takes; a new one has no limit but that of its type.
static artifact::InputT &inputOf(artifact::ManifestT &manifest, StringRef name, size_t entry) {
  auto found = llvm::find_if(manifest.inputs, [&](const auto &input) { return input->name == name; });
  if (found == manifest.inputs.end()) {
    auto input = std::make_unique<artifact::InputT>();
    input->name = name.str();
    input->limit = INT32_MAX;
    found = manifest.inputs.insert(found, std::move(input));
    needFormat(manifest, 2);
  }
  (*found)->entries |= 1u << entry;
  return **found;
}

/// Names of entry arguments that are no further inputs.
static bool isOfEveryStep(StringRef name) {
  return llvm::is_contained({"tokens", "positions", "row_start", "kv_len", "logit_rows", "source_len", "lengths"},
                            name);
}

LogicalResult checkTables(ModuleOp module, ArrayRef<std::string> entries, artifact::ManifestT &manifest) {
  for (auto [number, entry] : llvm::enumerate(entries)) {
    auto function = module.lookupSymbol<func::FuncOp>(entry);
    FailureOr<SmallVector<tw::TableIds>> tables = tw::tableIds(module, entry);
    if (failed(tables) || !function)
      return failure(failed(tables));
    for (auto [argument, rows] : *tables) {
      auto name = function.getArgAttrOfType<StringAttr>(argument, "tw.name");
      if (!name)
        continue;
      if (!isOfEveryStep(name.getValue())) {
        artifact::InputT &input = inputOf(manifest, name.getValue(), number);
        input.limit = std::min(input.limit, static_cast<uint64_t>(rows));
        continue;
      }
      if (name != "tokens" && name != "positions")
        continue;
      const bool isTokens = name == "tokens";
      const int64_t limit = isTokens ? manifest.vocab_size : manifest.context_length;
      if (limit > rows)
        return function.emitError("the ")
               << name.getValue() << " are indices into a table of " << rows << " rows; the graph's "
               << (isTokens ? "vocab_size" : "context_length") << " is " << limit;
    }
  }
  return success();
}

LogicalResult checkSourcesAreRead(ModuleOp module, StringRef entry) {
  llvm::SmallSetVector<func::FuncOp, 8> functions;
  if (auto function = module.lookupSymbol<func::FuncOp>(entry))
    functions.insert(function);
  for (size_t i = 0; i < functions.size(); ++i) { // the set grows
    func::FuncOp function = functions[i];
    WalkResult walked = function.walk([&](Operation *op) {
      if (auto call = dyn_cast<func::CallOp>(op)) {
        if (auto callee = module.lookupSymbol<func::FuncOp>(call.getCallee()))
          functions.insert(callee);
      } else if (auto append = dyn_cast<tw::AppendOp>(op); append && append.getState().getType().isSource()) {
        append.emitError("appends to a state of sources, which '")
            << entry << "' only reads; wanted it in the encode entry";
        return WalkResult::interrupt();
      }
      return WalkResult::advance();
    });
    if (walked.wasInterrupted())
      return failure();
  }
  return success();
}

LogicalResult describeResults(ModuleOp module, StringRef entry, artifact::ManifestT &manifest) {
  auto function = module.lookupSymbol<func::FuncOp>(entry);
  if (!function)
    return module.emitError("the graph has no entry function '") << entry << "'";
  FailureOr<tw::StepResults> results = tw::stepResults(function);
  if (failed(results))
    return failure();
  SymbolTable symbols(module);
  auto fail = [&](const Twine &what) { return function.emitError("the step function returns ") << what; };
  // The runtime gives the step a buffer for each result, of so many numbers for each wanted row.
  auto checkRows = [&](unsigned result, const std::string &what, StringRef wanted) -> LogicalResult {
    auto type = cast<RankedTensorType>(function.getResultTypes()[result]);
    bool fits = type.getElementType().isF32() && type.getRank() >= 1 && type.isDynamicDim(0);
    int64_t numbers = 1;
    for (int64_t extent : type.getShape().drop_front(fits ? 1 : 0))
      fits = fits && extent >= 1 && !llvm::MulOverflow(numbers, extent, numbers) && numbers <= INT32_MAX / 2;
    if (!fits)
      return fail(what) << " of type " << type << "; wanted " << wanted;
    FailureOr<Attribute> dim = leadingDim(function.front().getTerminator()->getOperand(result), symbols);
    auto name = succeeded(dim) ? dyn_cast<StringAttr>(*dim) : StringAttr();
    if (!name || tw::RowCount::parse(name.getValue()).base != "R")
      return fail(what) << " with a row for each of '" << (name ? name.getValue() : StringRef("?"))
                        << "'; wanted one for each wanted row (R), as a gather by logit_rows makes them";
    return success();
  };
  constexpr StringLiteral wantedLogits = "f32 [rows, vocabulary]";
  if (results->logits) {
    if (failed(checkRows(*results->logits, "logits", wantedLogits)))
      return failure();
    auto logits = cast<RankedTensorType>(function.getResultTypes()[*results->logits]);
    if (logits.getRank() != 2)
      return fail("logits") << " of type " << logits << "; wanted " << wantedLogits;
    if (manifest.vocab_size == 0)
      manifest.vocab_size = static_cast<uint32_t>(logits.getDimSize(1));
    if (manifest.vocab_size != logits.getDimSize(1))
      return fail("logits of ") << logits.getDimSize(1) << " numbers; the graph's vocab_size is "
                                << manifest.vocab_size;
  } else if (results->outputs.empty()) {
    return fail("no tensor; wanted logits [rows, vocabulary] or named outputs");
  } else if (manifest.vocab_size == 0) {
    return fail("no logits, and the graph has no vocab_size; wanted one of the two");
  }
  manifest.no_logits = !results->logits;
  for (unsigned result : results->outputs) {
    const std::string name = tw::resultName(function, result).str();
    if (failed(checkRows(result, "an output '" + name + "'", "f32 [rows, ...] of static extents of at least 1")))
      return failure();
    auto output = std::make_unique<artifact::OutputT>();
    output->name = name;
    for (int64_t extent : cast<RankedTensorType>(function.getResultTypes()[result]).getShape().drop_front())
      output->shape.push_back(static_cast<uint32_t>(extent));
    manifest.outputs.push_back(std::move(output));
  }
  if (manifest.outputs.size() > TW_ABI_MOST_OUTPUTS)
    return fail(Twine(manifest.outputs.size()))
           << " outputs besides the logits; wanted at most " << TW_ABI_MOST_OUTPUTS;
  if (!manifest.outputs.empty())
    needFormat(manifest, 2);
  return success();
}

/// Adds a state to the manifest, with its buffers behind `buffers` others. Returns the place of the first.
static FailureOr<int64_t> addState(func::FuncOp function, StringRef name, tw::StateType type,
                                   artifact::ManifestT &manifest, int64_t &buffers) {
  auto state = std::make_unique<artifact::StateT>();
  state->name = name.str();
  state->group = type.getGroup() ? type.getGroup().str() : "";
  for (auto [index, buffer] : llvm::enumerate(type.getBuffers())) {
    if (buffer.getRank() != 3 || buffer.isDynamicDim(1) || buffer.isDynamicDim(2))
      return function.emitError("state '")
             << name << "' has a buffer of type " << buffer << "; wanted [tokens, heads, dim]";
    auto described = std::make_unique<artifact::StateBufferT>();
    described->heads = static_cast<uint32_t>(buffer.getDimSize(1));
    described->dim = static_cast<uint32_t>(buffer.getDimSize(2));
    described->transposed = isTransposedBuffer(static_cast<unsigned>(index));
    state->buffers.push_back(std::move(described));
  }
  if (type.getGroup())
    needFormat(manifest, 2);
  int64_t first = buffers;
  buffers += static_cast<int64_t>(type.getBuffers().size());
  manifest.states.push_back(std::move(state));
  return first;
}

/// The window of the manifest's last state, which argument `index` is, as a number among `windows`, to which it is
/// added; nothing when it has none that is shorter than the context.
static std::optional<int64_t> noteWindow(func::FuncOp function, unsigned index, artifact::ManifestT &manifest,
                                         SmallVectorImpl<int64_t> &windows) {
  auto window = function.getArgAttrOfType<IntegerAttr>(index, "tw.window");
  if (!window || window.getInt() >= static_cast<int64_t>(manifest.context_length))
    return std::nullopt;
  manifest.states.back()->window = static_cast<uint32_t>(window.getInt());
  needFormat(manifest, 3); // compiled code reads a longer step
  if (!llvm::is_contained(windows, window.getInt()))
    windows.push_back(window.getInt());
  return llvm::find(windows, window.getInt()) - windows.begin();
}

FailureOr<ProgramTables> describeStates(ModuleOp module, ArrayRef<std::string> entries, artifact::ManifestT &manifest) {
  ProgramTables tables;
  int64_t buffers = 0;
  llvm::StringMap<tw::StateType> types;
  SmallVector<int64_t> windows;
  for (auto [number, entry] : llvm::enumerate(entries)) {
    auto function = module.lookupSymbol<func::FuncOp>(entry);
    const bool encodes = number > 0;
    if (encodes)
      for (auto [result, type] : llvm::enumerate(function.getResultTypes()))
        if (!isa<tw::StateType>(type)) // tw_encode has no buffer for it
          return function.emitError("result ")
                 << result << " of the encode entry has type " << type << "; wanted its states alone";
    bool kept = false, transient = false;
    for (BlockArgument argument : function.getArguments()) {
      auto name = function.getArgAttrOfType<StringAttr>(argument.getArgNumber(), "tw.name");
      auto type = dyn_cast<tw::StateType>(argument.getType());
      if (!name)
        return function.emitError("argument ") << argument.getArgNumber() << " has no name";
      if (!type) {
        if (!isOfEveryStep(name.getValue()))
          inputOf(manifest, name.getValue(), number);
        else if (name.getValue() == "lengths") // earlier runtimes do not fill them
          needFormat(manifest, 2);
        continue;
      }
      transient |= type.isTransient();
      kept |= !type.getGroup();
      if (auto [known, isNew] = types.try_emplace(name.getValue(), type); !isNew) {
        if (known->second != type || !type.isSource())
          return function.emitError("state '")
                 << name.getValue() << "' of type " << type << " is one of another entry, of type " << known->second
                 << "; wanted states in common to be sources of one type";
        continue;
      }
      if (type.isSource() && !encodes && entries.size() == 1)
        return function.emitError("state '")
               << name.getValue() << "' is of sources, but the graph has no encode entry that fills it";
      FailureOr<int64_t> first = addState(function, name.getValue(), type, manifest, buffers);
      if (failed(first))
        return failure();
      tables.states[name.getValue()] = *first;
      if (std::optional<int64_t> window = noteWindow(function, argument.getArgNumber(), manifest, windows))
        tables.windows[name.getValue()] = *window;
    }
    if (kept && (transient || encodes))
      return function.emitError("has states that are kept ")
             << (encodes ? "in the encode entry, which starts sequences anew"
                         : "beside transient ones; a step reads whole sequences or extends them");
  }
  for (auto [index, input] : llvm::enumerate(manifest.inputs))
    tables.inputs[input->name] = static_cast<int64_t>(index);
  return tables;
}

/// The layout of weights that stay as stored: floats of up to 32 bits.
static LayoutDescriptor rawLayout(Type number) {
  const unsigned bits = number.getIntOrFloatBitWidth();
  LayoutDescriptor layout;
  layout.name = "raw_";
  llvm::raw_string_ostream(layout.name) << number;
  layout.blockElements = 1;
  layout.blockBytes = bits / 8;
  layout.rowsPerGroup = 1;
  LayoutField field;
  field.bits = bits;
  field.order = {LayoutField::kRow};
  layout.fields.push_back(field);
  return layout;
}

llvm::Error packWeights(ModuleOp module, const GraphFile &graph, const std::string &path, artifact::ManifestT &manifest,
                        ProgramTables &tables, NanCounter &nans, Progress &progress) {
  auto failed = [&](StringRef name, const Twine &message) {
    return llvm::createStringError(llvm::Twine(graph.path()) + ": weight '" + name + "': " + message);
  };
  CompileSpan all("pack weights");
  uint64_t total = 0;
  for (const graph::Weight *weight : *graph.graph().weights())
    total += weight->length();
  progress.step("packing weights", total);
  WeightsFile file;
  if (Outcome opened = file.open(path); !opened.ok())
    return llvm::createStringError(opened.message);
  for (auto global : module.getOps<ml_program::GlobalOp>()) {
    StringRef name = global.getSymName();
    auto index = global->getAttrOfType<IntegerAttr>("tw.weight_index");
    if (!index)
      return failed(name, "the module does not say which weight of the graph it is");
    const size_t which = static_cast<size_t>(index.getInt());
    const graph::Weight *stored = graph.graph().weights()->Get(static_cast<uint32_t>(which));

    LayoutDescriptor layout;
    SmallVector<int64_t> shape;
    std::string element;
    Type number;
    if (auto packed = global->getAttrOfType<TypeAttr>("tw.element")) {
      number = packed.getValue();
      layout = cast<StorageType>(number).getLayout();
      llvm::append_range(shape, cast<DenseI64ArrayAttr>(global->getAttr("tw.shape")).asArrayRef());
    } else {
      auto type = cast<RankedTensorType>(global.getType());
      number = type.getElementType();
      if (!(number.isF32() || number.isF16() || number.isBF16()))
        return failed(name, "is not multiplied and not of f32, f16 or bf16; there is no layout for it");
      llvm::append_range(shape, type.getShape());
      layout = rawLayout(number);
    }
    llvm::raw_string_ostream(element) << number;
    RowPermutation permutation;
    if (const graph::RowPermutation *rows = stored->row_permutation()) {
      permutation.dims.assign(rows->dims()->begin(), rows->dims()->end());
      permutation.perm.assign(rows->perm()->begin(), rows->perm()->end());
    }
    const int64_t rows = shape.empty() ? 1 : shape[0];
    int64_t columns = 1;
    for (int64_t extent : ArrayRef(shape).drop_front(std::min<size_t>(1, shape.size())))
      columns *= extent;
    CompileSpan span("pack weight", name);
    llvm::scope_exit counted([&] { progress.advance(stored->length()); });
    const WeightBytes bytes = graph.weights().bytes(which);
    nans.look(name, number, bytes);
    WeightsFile::Placed placed;
    if (Outcome added = file.add(layout, rows, columns, permutation.dims.empty() ? nullptr : &permutation, bytes.data(),
                                 bytes.size(), placed);
        !added.ok())
      return failed(name, added.message);

    auto described = std::make_unique<artifact::WeightT>();
    described->name = name.str();
    described->element = element;
    described->shape.assign(shape.begin(), shape.end());
    described->layout = layoutIndex(layout, manifest);
    described->offset = placed.offset;
    described->length = placed.length;
    described->hash = placed.hash;
    tables.weights[name] = static_cast<int64_t>(manifest.weights.size());
    manifest.weights.push_back(std::move(described));
  }
  WeightsFile::Finished finished;
  if (Outcome done = file.finish(finished); !done.ok())
    return llvm::createStringError(done.message);
  manifest.weights_file = "model.tww";
  manifest.weights_file_length = finished.length;
  manifest.weights_hash = finished.hash;
  return llvm::Error::success();
}

} // namespace tilewright::driver
