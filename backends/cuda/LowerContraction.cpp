// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Contractions on matrix instructions: mma.sync m16n8k8 on tf32 and m16n8k16 on bytes (PTX ISA, mma).
//
// tf32 has 11 significant bits. Precise: x = high + low, both tf32, and a * b is high * high + high * low + low * high,
// which leaves out less than 2^-21 of a product ("3xTF32", as in CUTLASS example 27). Numbers beyond tf32's range, and
// infinities, become NaN in it.
#include "backends/cuda/Lanes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;

namespace tilewright {

namespace {

/// Registers of an operand; of tf32 also those of what the first ones leave out.
struct Registers {
  SmallVector<Value> high, low;
};

class Contraction {
public:
  Contraction(Lanes &lanes, linalg::LinalgOp op, const MmaForm &form, bool precise)
      : lanes(lanes), op(op), form(form), precise(precise), lhs(op.getDpsInputs()[form.lhs]),
        rhs(op.getDpsInputs()[form.rhs]), acc(op.getDpsInits()[0]), extents(op.getStaticLoopRanges()) {}

  void lower() {
    int64_t blocks = lanes.rowBlocks(form.m), steps = form.k / form.kStep(), tiles = form.n / 8;
    for (int64_t step = 0; step < steps; ++step) {
      SmallVector<Registers> as;
      for (int64_t block = 0; block < blocks; ++block)
        as.push_back(operandA(block, step));
      for (int64_t tile = 0; tile < tiles; ++tile) {
        Registers bs = operandB(step, tile);
        for (int64_t block = 0; block < blocks; ++block)
          accumulate(as[block], bs, block, tile);
      }
    }
  }

private:
  SmallVector<Value> dims(Value row, Value column, Value k) {
    SmallVector<Value> all{row, column};
    llvm::append_range(all, lanes.delinearize(k, ArrayRef(extents).drop_front(2)));
    return all;
  }

  Value read(Value buffer, unsigned input, ValueRange dims) {
    AffineMap map = op.getMatchingIndexingMap(op.getDpsInputOperand(input));
    return memref::LoadOp::create(lanes.b, lanes.loc, buffer, lanes.apply(map, dims));
  }

  /// Elements in the order of an instruction's registers.
  Registers operandA(int64_t block, int64_t step) {
    // [half][item]
    Value elements[2][4];
    for (int64_t half : {0, 1}) {
      Value row = lanes.rowWithin(block, half, form.m);
      for (int64_t item = 0; item < form.perLane(); ++item)
        elements[half][item] = layoutOf(lhs) == TileLayout::Accumulator
                                   ? lanes.load(lhs, lanes.elementSlot(form.k, block, half, step, item))
                                   : read(lhs, form.lhs, dims(row, lanes.constant(0), lanes.kOf(form, step, item)));
    }
    if (form.kind == MmaForm::Kind::Int8)
      return {{pack(elements[0]), pack(elements[1])}, {}};
    return split({elements[0][0], elements[1][0], elements[0][1], elements[1][1]});
  }

  Registers operandB(int64_t step, int64_t tile) {
    Value elements[4];
    for (int64_t item = 0; item < form.perLane(); ++item)
      elements[item] =
          layoutOf(rhs) == TileLayout::OperandB
              ? lanes.load(rhs, lanes.operandBSlot(form, step, tile, item))
              : read(rhs, form.rhs, dims(lanes.constant(0), lanes.columnOfB(tile), lanes.kOf(form, step, item)));
    if (form.kind == MmaForm::Kind::Int8)
      return {{pack(elements)}, {}};
    return split({elements[0], elements[1]});
  }

  /// Four bytes in one register, the first lowest.
  Value pack(ArrayRef<Value> bytes) {
    OpBuilder &b = lanes.b;
    Value word;
    for (auto [i, byte] : llvm::enumerate(bytes)) {
      Value wide = arith::ExtUIOp::create(b, lanes.loc, b.getI32Type(), byte);
      if (i == 0) {
        word = wide;
        continue;
      }
      Value place = arith::ConstantOp::create(b, lanes.loc, b.getI32IntegerAttr(8 * i));
      word = arith::OrIOp::create(b, lanes.loc, word, arith::ShLIOp::create(b, lanes.loc, wide, place));
    }
    return word;
  }

  Value toTf32(Value value) {
    return NVVM::ConvertFloatToTF32Op::create(lanes.b, lanes.loc, lanes.b.getI32Type(), value,
                                              NVVM::FPRoundingMode::RNA);
  }

  Registers split(ArrayRef<Value> elements) {
    Registers registers;
    for (Value element : elements) {
      Value high = toTf32(element);
      registers.high.push_back(high);
      if (!precise)
        continue;
      Value back = arith::BitcastOp::create(lanes.b, lanes.loc, lanes.b.getF32Type(), high);
      registers.low.push_back(toTf32(arith::SubFOp::create(lanes.b, lanes.loc, element, back)));
    }
    return registers;
  }

  void accumulate(const Registers &a, const Registers &b, int64_t block, int64_t tile) {
    SmallVector<Value> c;
    for (int64_t half : {0, 1})
      for (int64_t item : {0, 1})
        c.push_back(lanes.load(acc, lanes.elementSlot(form.n, block, half, tile, item)));
    // The small products first.
    if (!a.low.empty()) {
      c = multiply(a.low, b.high, c);
      c = multiply(a.high, b.low, c);
    }
    c = multiply(a.high, b.high, c);
    for (int64_t half : {0, 1})
      for (int64_t item : {0, 1})
        lanes.store(c[2 * half + item], acc, lanes.elementSlot(form.n, block, half, tile, item));
  }

  SmallVector<Value> multiply(ArrayRef<Value> a, ArrayRef<Value> b, ArrayRef<Value> c) {
    bool bytes = form.kind == MmaForm::Kind::Int8;
    auto type = [&](bool isUnsigned) {
      return !bytes ? NVVM::MMATypes::tf32 : isUnsigned ? NVVM::MMATypes::u8 : NVVM::MMATypes::s8;
    };
    std::array<NVVM::MMATypes, 2> types{type(form.lhsUnsigned), type(form.rhsUnsigned)};
    std::array<NVVM::MMALayout, 2> layouts{NVVM::MMALayout::row, NVVM::MMALayout::col};
    std::optional<NVVM::MMAIntOverflow> overflow;
    if (bytes)
      overflow = NVVM::MMAIntOverflow::wrapped;
    auto result = LLVM::LLVMStructType::getLiteral(lanes.b.getContext(), SmallVector<Type>(4, c.front().getType()));
    Value d = NVVM::MmaOp::create(lanes.b, lanes.loc, result, a, b, c, ArrayRef<int64_t>{16, 8, form.kStep()},
                                  std::nullopt, overflow, types, layouts);
    SmallVector<Value> numbers;
    for (int64_t i = 0; i < 4; ++i)
      numbers.push_back(LLVM::ExtractValueOp::create(lanes.b, lanes.loc, d, i));
    return numbers;
  }

  Lanes &lanes;
  linalg::LinalgOp op;
  const MmaForm &form;
  bool precise;
  Value lhs, rhs, acc;
  SmallVector<int64_t> extents;
};

} // namespace

void lowerContraction(Lanes &lanes, linalg::LinalgOp op, const MmaForm &form, bool precise) {
  Contraction(lanes, op, form, precise).lower();
}

void lowerOperandB(Lanes &lanes, linalg::LinalgOp op, linalg::LinalgOp contraction, const MmaForm &form) {
  OpOperand *rhs = contraction.getDpsInputOperand(form.rhs);
  SmallVector<int64_t> extents = contraction.getStaticLoopRanges();
  for (int64_t step = 0; step < form.k / form.kStep(); ++step)
    for (int64_t tile = 0; tile < form.n / 8; ++tile)
      for (int64_t item = 0; item < form.perLane(); ++item) {
        SmallVector<Value> dims{lanes.constant(0), lanes.columnOfB(tile)};
        llvm::append_range(dims, lanes.delinearize(lanes.kOf(form, step, item), ArrayRef(extents).drop_front(2)));
        SmallVector<Value> indices =
            lanes.indicesInRoot(rhs->get(), lanes.apply(contraction.getMatchingIndexingMap(rhs), dims));
        SmallVector<Value> arguments;
        for (OpOperand *input : op.getDpsInputOperands()) {
          Value value = input->get();
          if (isa<MemRefType>(value.getType()))
            value = memref::LoadOp::create(lanes.b, lanes.loc, value,
                                           lanes.apply(op.getMatchingIndexingMap(input), indices));
          arguments.push_back(value);
        }
        // The body never reads what it writes to.
        Value written = arith::ConstantOp::create(lanes.b, lanes.loc,
                                                  lanes.b.getZeroAttr(getElementTypeOrSelf(op.getDpsInits()[0])));
        arguments.push_back(written);
        lanes.store(lanes.inlineBody(op, indices, arguments)[0], rhs->get(),
                    lanes.operandBSlot(form, step, tile, item));
      }
}

} // namespace tilewright
