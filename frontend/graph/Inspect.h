// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Views of a graph file for people and programs. Text from the file is printed escaped where it could break the format.
#ifndef TILEWRIGHT_FRONTEND_GRAPH_INSPECT_H
#define TILEWRIGHT_FRONTEND_GRAPH_INSPECT_H

#include "frontend/graph/GraphFile.h"

#include "llvm/Support/raw_ostream.h"

namespace tilewright {

/// A dozen lines: names, sizes, plugins, functions, weights by type, tokenizer.
void inspectSummary(const GraphFile &file, llvm::raw_ostream &os);

/// Every function with its ops, one a line, and every weight.
void inspectTable(const GraphFile &file, llvm::raw_ostream &os);

/// Everything but the weights' bytes and the tokenizer's lists, as one JSON object:
/// {file, schema_version, name, family, producer, entry, context_length, vocab_size, required_plugins: [..],
///  functions: [{name, arguments: [{name, type}], ops: [{op, operands: [name], operand_segments?, attributes?: {..},
///  results: [{name, type}], regions?: [{arguments, ops, yields}]}], results: [{name, value}]}],
///  weights: [{name, type, bytes, file?, offset?, parts?: [{file, offset, bytes}], transposed?, hash, row_permutation?:
///  {dims, perm}}], tokenizer?: {..}}
void inspectJson(const GraphFile &file, llvm::raw_ostream &os);

/// A picture for Graphviz: one cluster for each function; a weight is a line in the node of the op that uses it.
void inspectDot(const GraphFile &file, llvm::raw_ostream &os);

/// How an op names a value in all of these: its name, or "%" and its number.
std::string valueName(const graph::Function &function, uint32_t index);

/// Bytes that a weight takes in its file or inline.
uint64_t weightBytes(const graph::Weight &weight);

} // namespace tilewright

#endif // TILEWRIGHT_FRONTEND_GRAPH_INSPECT_H
