// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "backends/reference/Interpreter.h"

#include "backends/reference/CheckOps.h"
#include "backends/reference/Ops.h"
#include "backends/reference/Passes.h"
#include "ir/check/Check.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/Error.h"

using namespace mlir;

namespace tilewright::reference {

Interpreter::~Interpreter() = default;

namespace {

constexpr unsigned kMaxCallDepth = 64;

template <typename Real> class Engine : public Interpreter {
public:
  Engine(OwningOpRef<ModuleOp> lowered, WeightProvider &weights, bool rounds)
      : Interpreter(std::move(lowered), weights), rounds(rounds) {}

  FailureOr<std::vector<RunValue>> run(StringRef name, std::vector<RunValue> inputs) override;
  StateRows<double> rowsOf(const StateHandle &state) const override;

private:
  using Val = Value<Real>;
  using Values = llvm::DenseMap<mlir::Value, Val>;

  FailureOr<SmallVector<Val>> call(Operation *caller, func::FuncOp function, ArrayRef<Val> arguments);
  LogicalResult execute(Operation &op, Values &values);
  FailureOr<SmallVector<Val>> evaluate(Operation *op, ArrayRef<Val> operands);
  FailureOr<Val> load(ml_program::GlobalLoadConstOp op);
  FailureOr<Val> input(func::FuncOp function, unsigned index, RunValue value);
  RunValue output(const Val &value);
  ArrayPtr<Real> whole(const Val &value);
  AttentionOperands<Real> attentionOperands(tw::AttentionOp op, ArrayRef<Val> operands);

  static Val of(Array<Real> array) { return {std::make_shared<Array<Real>>(std::move(array)), nullptr, nullptr}; }
  /// One result, rounded to its type.
  FailureOr<SmallVector<Val>> single(Operation *op, FailureOr<Array<Real>> array) {
    if (failed(array))
      return failure();
    round(*array, op->getResult(0).getType());
    return SmallVector<Val>{of(std::move(*array))};
  }
  void round(Array<Real> &array, Type type) {
    if (rounds)
      roundToType(array, cast<RankedTensorType>(type).getElementType());
  }

  const bool rounds;                       ///< numbers to types narrower than f32
  llvm::DenseMap<Operation *, Val> loaded; ///< by global
  unsigned depth = 0;
};

/// The elements of a weight that an op wants as a whole; small ones (norms, biases), as linear and gather read rows.
template <typename Real> ArrayPtr<Real> Engine<Real>::whole(const Val &value) {
  if (!value.weight)
    return value.array;
  std::vector<float> decoded(elementCount(value.weight->shape()));
  value.weight->decode(decoded.data());
  auto array = std::make_shared<Array<Real>>(Array<Real>::floats(value.weight->shape()));
  array->reals.assign(decoded.begin(), decoded.end());
  return array;
}

template <typename Real> FailureOr<Value<Real>> Engine<Real>::load(ml_program::GlobalLoadConstOp op) {
  auto global = SymbolTable::lookupNearestSymbolFrom<ml_program::GlobalOp>(op, op.getGlobalAttr());
  if (auto known = loaded.find(global); known != loaded.end())
    return known->second;
  Val value;
  if (auto elements = dyn_cast_or_null<ElementsAttr>(global.getValueAttr())) {
    FailureOr<Array<Real>> array = arrayOf<Real>(op, elements);
    if (failed(array))
      return failure();
    value = of(std::move(*array));
  } else {
    llvm::Expected<ArrayRef<uint8_t>> bytes = weights.bytes(global);
    if (!bytes)
      return op.emitOpError(llvm::toString(bytes.takeError()));
    llvm::Expected<Weight> weight = Weight::make(global, *bytes);
    if (!weight)
      return op.emitOpError(llvm::toString(weight.takeError()));
    value.weight = std::make_shared<Weight>(std::move(*weight));
  }
  loaded[global] = value;
  return value;
}

/// The value of operand group `index` of the op's definition; null where an optional one is not given.
template <typename Op, typename Val> static const Val *groupOf(Op op, ArrayRef<Val> operands, unsigned index) {
  auto [start, length] = op.getODSOperandIndexAndLength(index);
  return length == 0 ? nullptr : &operands[start];
}

template <typename Real>
AttentionOperands<Real> Engine<Real>::attentionOperands(tw::AttentionOp op, ArrayRef<Val> operands) {
  // By the order of the op's definition.
  auto group = [&](unsigned index) { return groupOf(op, operands, index); };
  auto array = [&](unsigned index) { return group(index) ? whole(*group(index)) : nullptr; };
  enum {
    Query,
    Key,
    Value,
    State,
    RowStart,
    KvLen,
    Positions,
    Mask,
    Bias,
    Sinks,
    KvStart,
    KvEnd,
    PrefixLen,
    CuSeqlensQ,
    CuSeqlensKv
  };
  AttentionOperands<Real> in;
  in.query = array(Query);
  in.key = array(Key);
  in.value = array(Value);
  in.rowStart = array(RowStart);
  in.kvLen = array(KvLen);
  in.positions = array(Positions);
  in.mask = array(Mask);
  in.bias = array(Bias);
  in.sinks = array(Sinks);
  in.kvStart = array(KvStart);
  in.kvEnd = array(KvEnd);
  in.prefixLen = array(PrefixLen);
  in.cuSeqlensQ = array(CuSeqlensQ);
  in.cuSeqlensKv = array(CuSeqlensKv);
  if (const Val *state = group(State))
    in.state = state->state;
  return in;
}

template <typename Real>
FailureOr<SmallVector<Value<Real>>> Engine<Real>::evaluate(Operation *op, ArrayRef<Val> operands) {
  using Result = FailureOr<SmallVector<Val>>;
  auto arrays = [&](ArrayRef<Val> values) {
    return llvm::map_to_vector(values, [&](const Val &value) { return whole(value); });
  };
  return llvm::TypeSwitch<Operation *, Result>(op)
      .Case([&](ml_program::GlobalLoadConstOp loadOp) -> Result {
        FailureOr<Val> value = load(loadOp);
        return failed(value) ? Result(failure()) : Result(SmallVector<Val>{*value});
      })
      .Case([&](func::CallOp callOp) -> Result {
        auto callee = SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(callOp, callOp.getCalleeAttr());
        if (callTap)
          callTap(op, /*begins=*/true);
        Result results = call(op, callee, operands);
        if (callTap)
          callTap(op, /*begins=*/false);
        return results;
      })
      .template Case<tw::ConstantOp, arith::ConstantOp>([&](auto constant) -> Result {
        auto elements = dyn_cast<ElementsAttr>(constant.getValue());
        if (!elements)
          return op->emitOpError("is no tensor, which is all that the interpreter knows");
        return single(op, arrayOf<Real>(op, elements));
      })
      .Case([&](tw::LinearOp linear) -> Result {
        ArrayPtr<Real> input = whole(operands[0]), bias = operands.size() > 2 ? whole(operands[2]) : nullptr;
        return single(op, evaluateLinear(linear, *input, operands[1], bias.get()));
      })
      .Case([&](tw::PackedLinearOp linear) -> Result {
        auto group = [&](unsigned index) { return groupOf(linear, operands, index); };
        enum { Input, Scales, Sums, Weight, Bias };
        // The sums only save work: they follow from quants and scales.
        ArrayPtr<Real> input = whole(*group(Input)), bias = group(Bias) ? whole(*group(Bias)) : nullptr;
        if (const Val *scales = group(Scales))
          input = std::make_shared<Array<Real>>(dequantizeRows(*input, *whole(*scales)));
        return single(op, evaluateLinear(op, *input, *group(Weight), bias.get()));
      })
      .Case([&](tw::GroupedLinearOp linear) -> Result {
        ArrayPtr<Real> input = whole(operands[0]), bias = operands.size() > 3 ? whole(operands[3]) : nullptr;
        return single(op, evaluateGroupedLinear(op, *input, operands[1], *operands[2].array, bias.get(),
                                                linear.getOut(), linear.getInOut()));
      })
      .Case([&](tw::PackedGroupedLinearOp linear) -> Result {
        auto group = [&](unsigned index) { return groupOf(linear, operands, index); };
        enum { Input, Scales, Sums, Weight, Offsets, Bias };
        ArrayPtr<Real> input = whole(*group(Input)), bias = group(Bias) ? whole(*group(Bias)) : nullptr;
        if (const Val *scales = group(Scales))
          input = std::make_shared<Array<Real>>(dequantizeRows(*input, *whole(*scales)));
        return single(op, evaluateGroupedLinear(op, *input, *group(Weight), *group(Offsets)->array, bias.get(),
                                                linear.getType().getDimSize(1), /*inOut=*/false));
      })
      .Case([&](tw::TopkOp topk) -> Result {
        ArrayPtr<Real> keys = whole(operands[0]), take = topk.getTake() ? whole(operands[1]) : nullptr;
        auto results = evaluateTopk(topk, *keys, take.get());
        round(results[0], topk.getValues().getType());
        return SmallVector<Val>{of(std::move(results[0])), of(std::move(results[1]))};
      })
      .Case([&](tw::GroupRowsOp groupRows) -> Result {
        auto results = evaluateGroupRows(groupRows, *operands[0].array);
        if (failed(results))
          return failure();
        return SmallVector<Val>{of((*results)[0]), of((*results)[1]), of((*results)[2])};
      })
      .Case([&](tw::PackedGatherOp gather) -> Result {
        return single(op, evaluateGather(op, operands[0], *operands[1].array, 0));
      })
      .Case([&](tw::BatchMatmulOp product) -> Result {
        return single(op, evaluateBatchMatmul(product, *whole(operands[0]), *whole(operands[1])));
      })
      .Case([&](tw::GatherOp gather) -> Result {
        return single(op, evaluateGather(gather, operands[0], *operands[1].array, gather.getBatchDims()));
      })
      .Case([&](tw::QuantizeRowsOp quantize) -> Result {
        auto results = evaluateQuantizeRows(quantize, *whole(operands[0]));
        if (failed(results))
          return failure();
        return SmallVector<Val>{of((*results)[0]), of((*results)[1]), of((*results)[2])};
      })
      .Case([&](tw::AppendOp append) -> Result {
        FailureOr<StatePtr<Real>> state =
            evaluateAppend<Real>(append, operands[0].state, *operands[1].array, arrays(operands.drop_front(2)));
        if (failed(state))
          return failure();
        return SmallVector<Val>{{nullptr, nullptr, *state}};
      })
      .Case([&](tw::AttentionOp attention) -> Result {
        auto results = evaluateAttention(attention, attentionOperands(attention, operands));
        if (failed(results))
          return failure();
        SmallVector<Val> values;
        for (Array<Real> *array :
             {&results->out, results->lse ? &*results->lse : nullptr, results->weights ? &*results->weights : nullptr})
          if (array) {
            round(*array, op->getResult(values.size()).getType());
            values.push_back(of(std::move(*array)));
          }
        return values;
      })
      .template Case<check::ExpectEqOp, check::ExpectCloseOp>([&](auto expect) -> Result {
        if (failed(evaluateExpectation(expect, Tensor::from(*whole(operands[0])), Tensor::from(*whole(operands[1])))))
          return failure();
        return SmallVector<Val>();
      })
      .template Case<tw::IotaOp, tw::BroadcastOp, tw::ReduceOp, tw::ReshapeOp, tw::TransposeOp, tw::SliceOp,
                     tw::ConcatOp>(
          [&](auto) -> Result { return single(op, evaluateShape<Real>(op, arrays(operands))); })
      .Default([&](Operation *) -> Result {
        if (op->getNumResults() != 1 || operands.empty() || !isa<RankedTensorType>(op->getResult(0).getType()))
          return op->emitOpError("has no meaning in the interpreter");
        return single(op, evaluateElementwise<Real>(op, arrays(operands)));
      });
}

template <typename Real> LogicalResult Engine<Real>::execute(Operation &op, Values &values) {
  SmallVector<Val> operands = llvm::map_to_vector(op.getOperands(), [&](mlir::Value v) { return values.lookup(v); });
  FailureOr<SmallVector<Val>> results = evaluate(&op, operands);
  if (failed(results))
    return failure();
  for (auto [result, value] : llvm::zip_equal(op.getResults(), *results))
    values[result] = value;
  if (tap) {
    std::vector<RunValue> tapped;
    // Weights are not copied for a tap.
    if (!isa<ml_program::GlobalLoadConstOp>(op))
      for (const Val &value : *results)
        tapped.push_back(output(value));
    tap(&op, tapped);
  }
  return success();
}

template <typename Real>
FailureOr<SmallVector<Value<Real>>> Engine<Real>::call(Operation *caller, func::FuncOp function,
                                                       ArrayRef<Val> arguments) {
  if (function.isExternal() || !function.getBody().hasOneBlock())
    return caller->emitOpError("runs function '") << function.getName() << "', which has not one block";
  if (depth == kMaxCallDepth)
    return caller->emitOpError("calls deeper than ") << kMaxCallDepth << " functions";
  ++depth;
  Values values;
  for (auto [argument, value] : llvm::zip_equal(function.getArguments(), arguments))
    values[argument] = value;
  LogicalResult done = success();
  for (Operation &op : function.getBody().front().without_terminator())
    if (failed(done = execute(op, values)))
      break;
  --depth;
  if (failed(done))
    return failure();
  return llvm::map_to_vector(function.getBody().front().getTerminator()->getOperands(),
                             [&](mlir::Value v) { return values.lookup(v); });
}

template <typename Real>
FailureOr<Value<Real>> Engine<Real>::input(func::FuncOp function, unsigned index, RunValue value) {
  Type type = function.getArgumentTypes()[index];
  auto fail = [&]() { return function.emitOpError("argument ") << index << " of type " << type << " was given "; };
  if (isa<tw::StateType>(type)) {
    auto *state = std::get_if<StateHandle>(&value);
    if (!state)
      return fail() << "a tensor";
    return Val{nullptr, nullptr, std::static_pointer_cast<const StateRows<Real>>(state->rows)};
  }
  auto tensor = cast<RankedTensorType>(type);
  auto *given = std::get_if<Tensor>(&value);
  if (!given)
    return fail() << "a state";
  bool fits = given->isFloat == isa<FloatType>(tensor.getElementType()) && given->rank() == tensor.getRank() &&
              given->size() == elementCount(given->shape);
  for (int64_t d = 0; fits && d < tensor.getRank(); ++d)
    fits = tensor.isDynamicDim(d) || tensor.getDimSize(d) == given->shape[d];
  if (!fits)
    return fail() << (given->isFloat ? "floats" : "integers") << " of shape " << text(given->shape);
  Array<Real> array = Array<Real>::from(*given);
  round(array, tensor);
  return of(std::move(array));
}

template <typename Real> RunValue Engine<Real>::output(const Val &value) {
  if (value.state || (!value.array && !value.weight))
    return StateHandle{value.state};
  return Tensor::from(*whole(value));
}

template <typename Real> StateRows<double> Engine<Real>::rowsOf(const StateHandle &handle) const {
  StateRows<double> copy;
  auto state = std::static_pointer_cast<const StateRows<Real>>(handle.rows);
  if (!state)
    return copy;
  for (const auto &sequence : state->sequences) {
    auto &to = copy.sequences.emplace_back();
    to.rows = sequence.rows;
    for (const auto &buffer : sequence.buffers)
      to.buffers.push_back({buffer.trailing, std::vector<double>(buffer.values.begin(), buffer.values.end())});
  }
  return copy;
}

template <typename Real>
FailureOr<std::vector<RunValue>> Engine<Real>::run(StringRef name, std::vector<RunValue> inputs) {
  auto function = lowered->lookupSymbol<func::FuncOp>(name);
  if (!function)
    return lowered->emitError("there is no function '") << name << "' to run";
  if (inputs.size() != function.getNumArguments())
    return function.emitOpError("was given ") << inputs.size() << " arguments, wanted " << function.getNumArguments();
  SmallVector<Val> arguments;
  for (auto [i, given] : llvm::enumerate(inputs)) {
    FailureOr<Val> value = input(function, i, std::move(given));
    if (failed(value))
      return failure();
    arguments.push_back(*value);
  }
  FailureOr<SmallVector<Val>> results = call(function, function, arguments);
  if (failed(results))
    return failure();
  std::vector<RunValue> outputs;
  for (const Val &result : *results)
    outputs.push_back(output(result));
  return outputs;
}

} // namespace

FailureOr<std::unique_ptr<Interpreter>> Interpreter::create(ModuleOp module, WeightProvider &weights,
                                                            Precision precision) {
  OwningOpRef<ModuleOp> lowered = module.clone();
  module.getContext()->loadDialect<tw::TwDialect>();
  if (failed(lowerToCoreOps(*lowered)))
    return failure();
  std::unique_ptr<Interpreter> interpreter;
  if (precision == Precision::F32)
    interpreter = std::make_unique<Engine<float>>(std::move(lowered), weights, /*rounds=*/true);
  else
    interpreter = std::make_unique<Engine<double>>(std::move(lowered), weights, precision != Precision::Unrounded);
  return interpreter;
}

} // namespace tilewright::reference
