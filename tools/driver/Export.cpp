// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// `tilewright export`: the weights of a graph as a safetensors file.
#include "tools/driver/Commands.h"
#include "tools/driver/Inputs.h"
#include "tools/driver/QuantizeGraph.h"
#include "tools/driver/Session.h"

#include "backends/reference/Weights.h"
#include "frontend/graph/Access.h"
#include "frontend/graph/Types.h"
#include "ir/interfaces/DecodeBlocks.h"
#include "mlir/Dialect/MLProgram/IR/MLProgram.h"
#include "tools/progress/Progress.h"
#include "tools/safetensors/Safetensors.h"

#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/ADT/StringSwitch.h"

#include <cstring>

using namespace mlir;

namespace tilewright::driver {
namespace {

/// The name that safetensors has for a builtin type; empty: none.
StringRef dtypeOf(Type type) {
  std::string spelling;
  llvm::raw_string_ostream(spelling) << type;
  return llvm::StringSwitch<StringRef>(spelling)
      .Case("f64", "F64")
      .Case("f32", "F32")
      .Case("f16", "F16")
      .Case("bf16", "BF16")
      .Case("i64", "I64")
      .Case("i32", "I32")
      .Case("i16", "I16")
      .Case("i8", "I8")
      .Case("i1", "BOOL")
      .Default("");
}

using Problem = std::optional<std::string>;

/// Numbers as the target type stores them, little-endian; the number that it cannot hold is named.
Problem appendAs(const llvm::fltSemantics &semantics, ArrayRef<float> numbers, std::vector<uint8_t> &out) {
  const unsigned bytes = llvm::APFloat::getSizeInBits(semantics) / 8;
  out.resize(numbers.size() * bytes);
  if (&semantics == &llvm::APFloat::IEEEsingle()) {
    std::memcpy(out.data(), numbers.data(), out.size());
    return std::nullopt;
  }
  for (auto [index, number] : llvm::enumerate(numbers)) {
    llvm::APFloat value(number);
    bool inexact = false;
    const auto status = value.convert(semantics, llvm::APFloat::rmNearestTiesToEven, &inexact);
    if (status & llvm::APFloat::opOverflow)
      return "holds " + std::to_string(number) + ", which is beyond the type that was asked for; take another --dtype";
    const uint64_t bits = value.bitcastToAPInt().getZExtValue();
    std::memcpy(&out[index * bytes], &bits, bytes);
  }
  return std::nullopt;
}

/// A weight, and the numbers of its rows where it has any.
struct Stored {
  std::function<WeightBytes()> bytes, rowScales;
};

/// Decodes the bytes of a weight piece by piece. They stand in the order of the source: what a graph notes about
/// another order of rows is undone by leaving it.
Problem decode(RankedTensorType type, ArrayRef<uint8_t> stored, ArrayRef<uint8_t> rowScales,
               const llvm::fltSemantics &semantics, const TensorSource::Sink &sink) {
  const auto storage = cast<StorageType>(type.getElementType());
  const int64_t elements = type.getNumElements();
  constexpr int64_t blocksAtOnce = 4096;
  const int64_t pieceBytes = blocksAtOnce * storage.getBlockBytes();
  std::vector<float> numbers(blocksAtOnce * storage.getBlockElements());
  std::vector<uint8_t> out;
  for (int64_t done = 0; done < elements; done += static_cast<int64_t>(numbers.size())) {
    const auto piece = MutableArrayRef(numbers).take_front(elements - done);
    decodeBlocks(storage, stored.take_front(pieceBytes), piece);
    stored = stored.drop_front(std::min<size_t>(pieceBytes, stored.size()));
    if (!rowScales.empty())
      for (auto [index, number] : llvm::enumerate(piece)) {
        float scale = 0;
        const int64_t row = (done + static_cast<int64_t>(index)) / type.getShape().back();
        std::memcpy(&scale, &rowScales[row * sizeof(float)], sizeof(float));
        number *= scale;
      }
    if (Problem problem = appendAs(semantics, piece, out))
      return problem;
    sink(out.data(), out.size());
  }
  return std::nullopt;
}

std::string nameOf(ml_program::GlobalOp global) {
  auto name = global->getAttrOfType<StringAttr>("tw.weight_name");
  return (name ? name.getValue() : global.getSymName()).str();
}

size_t indexOf(ml_program::GlobalOp global) {
  return static_cast<size_t>(global->getAttrOfType<IntegerAttr>("tw.weight_index").getInt());
}

/// The weights that hold the numbers of other weights' rows, by the names of these: they are part of what is written
/// under those names.
llvm::StringMap<ml_program::GlobalOp> findRowScales(ModuleOp module) {
  llvm::StringMap<ml_program::GlobalOp> byName, scales;
  for (auto global : module.getOps<ml_program::GlobalOp>())
    byName[nameOf(global)] = global;
  for (auto &entry : byName) {
    auto type = cast<RankedTensorType>(entry.second.getType());
    auto storage = dyn_cast<StorageType>(type.getElementType());
    ml_program::GlobalOp scale = byName.lookup((entry.getKey() + kRowScaleSuffix).str());
    if (storage && scale && storage.getRowEncoding() == RowEncoding::ScaledRows && type.getRank() == 2 &&
        scale.getType() == RankedTensorType::get(type.getShape().take_front(), Float32Type::get(module.getContext())))
      scales[entry.getKey()] = scale;
  }
  return scales;
}

/// `dtype`: f32, f16, bf16, or empty for the weight's own where safetensors has it, else f32.
llvm::Expected<TensorSource> sourceOf(ml_program::GlobalOp global, const Stored &stored, StringRef dtype) {
  auto type = cast<RankedTensorType>(global.getType());
  TensorSource tensor{nameOf(global), "", {}, nullptr};
  tensor.shape.assign(type.getShape().begin(), type.getShape().end());
  const Type element = type.getElementType();
  const StringRef own = dtypeOf(element);
  auto storage = dyn_cast<StorageType>(element);
  if (!own.empty() && (dtype.empty() || !storage || dtype.equals_insensitive(own))) {
    tensor.dtype = own.str();
    tensor.write = [stored](const TensorSource::Sink &sink) {
      const WeightBytes bytes = stored.bytes();
      sink(bytes.data(), bytes.size());
      return Problem();
    };
    return tensor;
  }
  if (!storage)
    return llvm::createStringError("weight " + quoted(tensor.name) + " is of a type that safetensors does not have");
  const llvm::fltSemantics &semantics = dtype == "f16"    ? llvm::APFloat::IEEEhalf()
                                        : dtype == "bf16" ? llvm::APFloat::BFloat()
                                                          : llvm::APFloat::IEEEsingle();
  tensor.dtype = dtype.empty() ? "F32" : dtype.upper();
  tensor.write = [type, stored, &semantics](const TensorSource::Sink &sink) {
    return decode(type, stored.bytes(), stored.rowScales ? stored.rowScales() : WeightBytes(ArrayRef<uint8_t>()),
                  semantics, sink);
  };
  return tensor;
}

} // namespace

int exportWeights(const ExportOptions &options) {
  if (int code = report(checkOutputs({{options.output}, ""}, options.input, options.weightsDir), BadInput))
    return code;
  Session session(options.plugins, /*threads=*/1);
  ModuleOp module = session.open(options.input, options.weightsDir);
  if (!module)
    return session.status();
  const WeightSource &weights = session.graph().weights();
  const llvm::StringMap<ml_program::GlobalOp> rowScales = findRowScales(module);
  llvm::StringSet<> parts;
  for (const auto &entry : rowScales)
    parts.insert(nameOf(entry.second));
  const auto bytesOf = [&weights](ml_program::GlobalOp global) {
    return [&weights, index = indexOf(global)] { return weights.bytes(index); };
  };
  std::vector<TensorSource> tensors;
  for (auto global : module.getOps<ml_program::GlobalOp>()) {
    const size_t index = indexOf(global);
    if (llvm::Error error = weights.checkHash(session.graph().graph(), index))
      return report(std::move(error), BadInput);
    // A graph file's check knows the size of builtin types alone.
    if (isa<StorageType>(cast<RankedTensorType>(global.getType()).getElementType()))
      if (auto weight = reference::Weight::make(global, weights.bytes(index)); !weight)
        return report(weight.takeError(), BadInput);
    if (parts.contains(nameOf(global)))
      continue;
    Stored stored{bytesOf(global), nullptr};
    if (ml_program::GlobalOp scale = rowScales.lookup(nameOf(global)))
      stored.rowScales = bytesOf(scale);
    llvm::Expected<TensorSource> tensor = sourceOf(global, stored, options.dtype);
    if (!tensor)
      return report(tensor.takeError(), Unsupported);
    tensors.push_back(std::move(*tensor));
  }
  const size_t count = tensors.size();
  std::map<std::string, std::string> metadata = {{"format", "pt"}};
  if (StringRef name = text(session.graph().graph().name()); !name.empty())
    metadata["name"] = name.str();
  Progress progress(options.quiet);
  progress.step("writing weights", count);
  for (TensorSource &tensor : tensors)
    tensor.write = [&progress, write = std::move(tensor.write)](const TensorSource::Sink &sink) {
      llvm::scope_exit counted([&] { progress.advance(); });
      return write(sink);
    };
  if (Problem problem = writeSafetensors(options.output, std::move(tensors), metadata))
    return report(llvm::createStringError(*problem), WorkFailed);
  progress.done();
  llvm::errs() << options.output << ": " << count << " tensors\n";
  return Success;
}

} // namespace tilewright::driver
