// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "plugins/pre_norm/PreNorm.h"

#include "ir/interfaces/Verify.h"

#include "llvm/ADT/ScopeExit.h"

// The norm's dialect is loaded as the parser loads those of ops.
static mlir::ParseResult parseNormName(mlir::OpAsmParser &parser, mlir::StringAttr &name) {
  if (parser.parseAttribute(name))
    return mlir::failure();
  parser.getContext()->getOrLoadDialect(name.getValue().split('.').first);
  return mlir::success();
}

static void printNormName(mlir::OpAsmPrinter &printer, mlir::Operation *, mlir::StringAttr name) { printer << name; }

#include "plugins/pre_norm/PreNormDialect.cpp.inc"

#define GET_OP_CLASSES
#include "plugins/pre_norm/PreNorm.cpp.inc"

namespace tilewright::pre_norm {

using namespace mlir;

void PreNormDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "plugins/pre_norm/PreNorm.cpp.inc"
      >();
}

namespace {
/// The norm on `sum` as an op that stands in no block yet.
Operation *createNorm(AddNormOp op, Value sum) {
  OperationState state(op.getLoc(), op.getNorm());
  state.addOperands(sum);
  state.addOperands(op.getParameters());
  state.addTypes(sum.getType());
  state.addAttributes(op.getNormAttributes().getValue());
  return Operation::create(state);
}

bool followsRows(ArrayRef<LoopDim> dims) {
  if (dims.empty() || dims.back().loop != LoopDim::kWhole)
    return false;
  for (auto [i, dim] : llvm::enumerate(dims.drop_back()))
    if (dim.loop != int64_t(i) || dim.factor != 1)
      return false;
  return true;
}
} // namespace

Operation *buildNorm(OpBuilder &builder, AddNormOp op, Value sum) { return builder.insert(createNorm(op, sum)); }

std::string notRowNorm(Operation *op) {
  StringRef name = op->getName().getStringRef();
  auto mapped = dyn_cast<LoopMapped>(op);
  if (!mapped || !isa<ReferenceLowering>(op))
    return (name + " says neither how it is tiled nor what it means").str();
  if (op->getNumResults() != 1 || op->getNumOperands() < 1 || op->getResult(0).getType() != op->getOperand(0).getType())
    return (name + " does not map its first operand to one result of the same type").str();
  FailureOr<LoopMap> map = mapped.getLoopMap();
  if (failed(map) || map->operands.empty() || map->results.empty() || !followsRows(map->operands.front()) ||
      !followsRows(map->results.front()))
    return (name + " does not work row by row").str();
  for (const LoopDims &dims : llvm::drop_begin(map->operands))
    for (const LoopDim &dim : dims)
      if (dim.loop != LoopDim::kWhole)
        return (name + " has a parameter that follows its rows").str();
  return "";
}

LogicalResult AddNormOp::verify() {
  if (!RegisteredOperationName::lookup(getNorm(), getContext())) // (C1)
    return emitOpError("norm is '") << getNorm() << "', which is no registered op (is its plugin loaded?)";
  Operation *norm = createNorm(*this, getInput());
  llvm::scope_exit destroy([&] { norm->destroy(); });
  if (failed(norm->getName().verifyInvariants(norm))) // (C2)
    return emitOpError("norm '") << getNorm() << "' does not take these operands and attributes";
  if (std::string fault = notRowNorm(norm); !fault.empty()) // (C3)
    return emitOpError("norm: ") << fault;
  return success();
}

FailureOr<SmallVector<Value>> AddNormOp::lowerToReference(OpBuilder &builder) {
  Value sum = tw::AddOp::create(builder, getLoc(), getInput(), getUpdate());
  Operation *norm = buildNorm(builder, *this, sum);
  // What is left behind are core ops only: the norm is lowered as well.
  auto values = cast<ReferenceLowering>(norm).lowerToReference(builder);
  if (failed(values) || failed(verifyGivenTypes(norm, "ReferenceLowering", *values)))
    return failure();
  norm->erase();
  return SmallVector<Value>{sum, values->front()};
}

StringRef AddNormOp::getFusionKind() { return "norm"; }

StringRef AddNormOp::describeFusion() { return "the residual sum and its norm in one sweep"; }

NumericsBound AddNormOp::getNumericsBound(StringRef mode) {
  Operation *norm = createNorm(*this, getInput());
  llvm::scope_exit destroy([&] { norm->destroy(); });
  if (auto contract = dyn_cast<NumericsContract>(norm))
    return contract.getNumericsBound(mode);
  return {0.0, mode == "precise" ? 1e-5 : 1e-4};
}

// Rows are independent; parameters are whole.
FailureOr<LoopMap> AddNormOp::getLoopMap() {
  int64_t rank = getInput().getType().getRank();
  LoopDims rows = leadingLoops(rank, rank - 1);
  LoopMap map;
  map.loops = rank - 1;
  map.operands = {rows, rows};
  for (Value parameter : getParameters())
    map.operands.push_back(LoopDims(cast<RankedTensorType>(parameter.getType()).getRank(), LoopDim::whole()));
  map.results = {rows, rows};
  return map;
}

} // namespace tilewright::pre_norm
