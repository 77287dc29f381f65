// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Internal to the translation: attributes and types, both ways, and the names of the attributes that carry the rest.
#pragma once

#include "frontend/graph/Errors.h"
#include "frontend/graph/Types.h"
#include "frontend/graph/graph_generated.h"

#include "mlir/IR/Attributes.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Location.h"

namespace tilewright::translate {

constexpr llvm::StringLiteral kName = "tw.name", kSymbols = "tw.symbols", kEntry = "tw.entry",
                              kEncodeEntry = "tw.encode_entry", kFamily = "tw.family", kProducer = "tw.producer",
                              kContextLength = "tw.context_length", kVocabSize = "tw.vocab_size",
                              kRereadLength = "tw.reread_length", kWeightIndex = "tw.weight_index",
                              kWeightName = "tw.weight_name", kRowDims = "tw.row_dims", kRowPerm = "tw.row_perm";

/// A string or list of the graph that may be absent.
inline llvm::StringRef text(const flatbuffers::String *string) {
  return string ? llvm::StringRef(string->data(), string->size()) : llvm::StringRef();
}

template <typename T> llvm::iterator_range<const T *> numbers(const flatbuffers::Vector<T> *vector) {
  const T *data = vector ? reinterpret_cast<const T *>(vector->Data()) : nullptr;
  return {data, data + (vector ? vector->size() : 0)};
}

/// The attribute of a graph's op. `tw.constant` has its numbers as a list, which `type` makes a tensor of.
llvm::Expected<mlir::Attribute> attributeOf(const graph::Attr &attr, mlir::MLIRContext &context);

/// Elements of a constant of `type`, from the numbers that a graph lists: as many as it has elements, or one for all.
llvm::Expected<mlir::Attribute> elementsOf(mlir::Attribute numbers, mlir::Type type);

/// The way back. Fails, saying why, for a kind of attribute that a graph file does not have.
llvm::Expected<graph::AttrValueUnion> graphAttributeOf(mlir::Attribute attribute);

/// The type of a graph's value; an element type of a plugin that is not there is an error of `missing`.
llvm::Expected<mlir::Type> typeOf(const graph::TensorType &type, mlir::MLIRContext &context,
                                  llvm::function_ref<llvm::Error(llvm::StringRef dialect)> missing);
llvm::Expected<mlir::Type> typeOf(const graph::Value &value, mlir::MLIRContext &context,
                                  llvm::function_ref<llvm::Error(llvm::StringRef dialect)> missing);

/// tw.symbols of a type.
mlir::ArrayAttr symbolsOf(const graph::TensorType &type, mlir::MLIRContext &context);
mlir::ArrayAttr symbolsOf(const graph::Value &value, mlir::MLIRContext &context);

/// The way back: dynamic dimensions take their names from `symbols` (may be null) where it fits the type.
llvm::Expected<graph::TensorTypeT> graphTypeOf(mlir::RankedTensorType type, mlir::ArrayAttr symbols);
llvm::Expected<graph::TypeUnion> graphTypeOf(mlir::Type type, mlir::ArrayAttr symbols);

} // namespace tilewright::translate
