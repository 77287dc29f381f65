// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The emitter of step entries: what its parts share. Entry.cpp walks the program, EntryCalls.cpp emits calls of layers.
#pragma once

#include "backends/cpu/Entry.h"

#include "ir/tw/Tw.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/SymbolTable.h"
#include "runtime/api/abi.h"

#include <cstddef>

namespace tilewright {

/// Pointers that a state is: to the pool of each of its buffers, then to the page table and the row slots of its
/// window.
inline size_t statePointers(tw::StateType type) { return type.getBuffers().size() + 2; }

/// Slots of a layer function's argument table: one pointer per tensor or weight argument, those of a state argument,
/// then one per tensor result; behind them the three region bases of its own arena.
struct ArgumentSlots {
  mlir::SmallVector<unsigned> first; // per function argument
  mlir::SmallVector<int> results;    // per function result, -1 for states
  unsigned regionBases = 0;
  unsigned count = 0;

  explicit ArgumentSlots(mlir::func::FuncOp function) {
    for (mlir::Type type : function.getArgumentTypes()) {
      first.push_back(count);
      auto state = mlir::dyn_cast<tw::StateType>(type);
      count += state ? statePointers(state) : 1;
    }
    for (mlir::Type type : function.getResultTypes())
      results.push_back(mlir::isa<tw::StateType>(type) ? -1 : static_cast<int>(count++));
    regionBases = count;
    count += numArenaRegions;
  }
};

/// Where something lies, known without any code: the number is a constant, so that calls that differ in numbers alone
/// share their code.
struct Address {
  enum class Kind {
    Pointer,        ///< a value of the function
    Weight,         ///< entry `number` of the step's table of weights
    State,          ///< entry `number` of the step's table of state buffers
    WindowPages,    ///< page table of window `number`
    WindowRowSlots, ///< row slots of window `number`
    Arena           ///< `number` bytes for each unit of `region`, in the function's own arena
  };
  Kind kind = Kind::Pointer;
  mlir::Value pointer = {};
  ArenaRegion region = ArenaRegion::Rows;
  int64_t number = 0;

  /// Whether the two differ in their numbers at most.
  bool isLike(const Address &other) const {
    return kind == other.kind && pointer == other.pointer && region == other.region;
  }
};

class EntryEmitter {
public:
  EntryEmitter(mlir::ModuleOp program, const ProgramPlan &plan, const ProgramTables &tables, mlir::StringRef symbol,
               llvm::function_ref<std::string(mlir::StringRef)> kernelSymbol, mlir::ModuleOp target)
      : symbols(program), plan(plan), tables(tables), symbol(symbol), kernelSymbol(kernelSymbol), target(target),
        b(target.getContext()), ptr(mlir::LLVM::LLVMPointerType::get(target.getContext())), i32(b.getI32Type()),
        i64(b.getI64Type()) {}

  mlir::LogicalResult emitEntry(mlir::func::FuncOp function);

private:
  /// What a function body being emitted knows.
  struct Frame {
    mlir::func::FuncOp source;
    mlir::LLVM::LLVMFuncOp code;
    mlir::Block *allocas = nullptr; // entry block: fixed-size arrays live here
    mlir::Block *cancelled = nullptr;
    mlir::Value step;
    mlir::Value regionBase[numArenaRegions];                        // of this function's own arena
    mlir::Value regionUnit[numArenaRegions];                        // padded rows, padded logit rows, 1
    llvm::DenseMap<mlir::Value, Address> addresses;                 // tensors and weights
    llvm::DenseMap<mlir::Value, mlir::SmallVector<Address>> states; // statePointers() each
    /// For the entry: bit i of an op's word is set when its work is for output i alone or among others; all bits, when
    /// it is for logits or states. An op that is not here is always wanted.
    llvm::DenseMap<mlir::Operation *, uint64_t> servedOutputs;
    mlir::SmallVector<mlir::Value> outputWanted; ///< i1 of each output
  };
  static constexpr uint64_t always = ~uint64_t(0);
  /// A call of a layer function with what its argument table holds.
  struct LayerCall {
    mlir::func::CallOp op;
    mlir::func::FuncOp callee;
    mlir::SmallVector<Address> slots;

    /// Whether the two can be done by the same code with other numbers.
    bool isLike(const LayerCall &other) const {
      return callee == other.callee &&
             llvm::equal(slots, other.slots, [](const Address &a, const Address &b) { return a.isLike(b); });
    }
  };

  mlir::Value constant(int64_t value) {
    return mlir::LLVM::ConstantOp::create(b, loc, i64, b.getI64IntegerAttr(value));
  }
  mlir::Value byteOffset(mlir::Value base, mlir::Value bytes) {
    return mlir::LLVM::GEPOp::create(b, loc, ptr, b.getI8Type(), base, mlir::ArrayRef<mlir::LLVM::GEPArg>{bytes});
  }
  mlir::Value field(mlir::Value step, size_t offset, mlir::Type type) {
    mlir::Value at = mlir::LLVM::GEPOp::create(b, loc, ptr, b.getI8Type(), step,
                                               mlir::ArrayRef<mlir::LLVM::GEPArg>{static_cast<int32_t>(offset)});
    return mlir::LLVM::LoadOp::create(b, loc, type, at);
  }
  mlir::Value slot(mlir::Value table, unsigned index) {
    return mlir::LLVM::GEPOp::create(b, loc, ptr, ptr, table,
                                     mlir::ArrayRef<mlir::LLVM::GEPArg>{static_cast<int32_t>(index)});
  }
  mlir::Value localArray(Frame &frame, unsigned slots) {
    mlir::OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(frame.allocas);
    return mlir::LLVM::AllocaOp::create(b, loc, ptr, mlir::LLVM::LLVMArrayType::get(i64, slots), constant(1),
                                        /*alignment=*/16);
  }

  /// The pointer that an address of this form with `number` (i64) means.
  mlir::Value pointerOf(Frame &frame, const Address &form, mlir::Value number);
  mlir::Value pointerOf(Frame &frame, const Address &address) {
    return pointerOf(frame, address, constant(address.number));
  }
  mlir::Block *newBlock(Frame &frame);

  void openFunction(Frame &frame, mlir::StringRef name, mlir::LLVM::Linkage linkage,
                    mlir::ArrayRef<mlir::Type> argumentTypes);
  void closeFunction(Frame &frame);
  void loadUnits(Frame &frame);
  /// The state arguments of the entry.
  mlir::LogicalResult placeStates(Frame &frame);
  /// Where the entry's results go, and which ops are for which.
  mlir::LogicalResult placeResults(Frame &frame);
  mlir::LogicalResult emitBody(Frame &frame);
  mlir::LogicalResult emitDispatch(Frame &frame, tw::DispatchOp op);
  /// A pointer to the elements of a constant, which lie in the code.
  mlir::Value constantData(Frame &frame, tw::ConstantOp op);
  /// Ops that make no code: weight loads, constants and views.
  mlir::LogicalResult noteAddress(Frame &frame, mlir::Operation &op);
  /// What a call passes; no code yet. Its results have addresses then.
  mlir::FailureOr<LayerCall> planCall(Frame &frame, mlir::func::CallOp op);
  /// Calls that follow one another: a loop over a constant table, unless each needs code of its own.
  void emitCalls(Frame &frame, mlir::ArrayRef<LayerCall> calls);
  void emitLoop(Frame &frame, mlir::ArrayRef<LayerCall> calls, mlir::ArrayRef<const LayerCall *> forms);
  /// One call; slot i of its table has `numbers[i]`. Returns its status.
  mlir::Value emitCall(Frame &frame, const LayerCall &form, mlir::ArrayRef<mlir::Value> numbers);
  mlir::LogicalResult emitLayer(mlir::func::FuncOp function);
  mlir::FailureOr<Address> resultAddress(Frame &frame, mlir::OpResult result);
  /// The page table, or the row slots, of the states that a dispatch takes.
  mlir::FailureOr<mlir::Value> tableOfState(Frame &frame, tw::DispatchOp op, bool ofPages);
  mlir::FailureOr<mlir::Value> kernelArgument(Frame &frame, tw::DispatchOp op, mlir::func::FuncOp kernel,
                                              unsigned index);
  mlir::FailureOr<mlir::Value> symbolValue(Frame &frame, mlir::func::FuncOp kernel, mlir::StringRef name);
  void returnIfCancelled(Frame &frame, mlir::Value status);
  std::string layerName(mlir::func::FuncOp function) { return (symbol + "." + function.getSymName()).str(); }

  mlir::SymbolTable symbols;
  const ProgramPlan &plan;
  const ProgramTables &tables;
  mlir::StringRef symbol;
  llvm::function_ref<std::string(mlir::StringRef)> kernelSymbol;
  mlir::ModuleOp target;
  mlir::OpBuilder b;
  mlir::Type ptr, i32, i64;
  mlir::Location loc = b.getUnknownLoc();
  /// Results of a function are written where its caller says.
  llvm::DenseMap<mlir::Value, Address> returnDestinations;
  unsigned tablesMade = 0; ///< of arguments
  unsigned constants = 0;
};

} // namespace tilewright
