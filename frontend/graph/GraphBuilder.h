// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Builds graph files from C++, for importers and for users:
//
//   GraphBuilder builder("my tool 1.0");
//   FunctionBuilder &f = builder.addFunction("main");
//   ValueId x = f.argument("x", Tensor{"f32", {"N", 64}});
//   ValueId w = f.weight("w");                                   // after builder.addWeight(...)
//   f.results({f.op("tw.linear", {x, w}, Tensor{"f32", {"N", 10}})}, {"y"});
//   builder.setEntry("main");
//   llvm::Expected<std::vector<uint8_t>> bytes = builder.finish();
//
// A misuse (a value of another function, a second definition of a name) is remembered and reported by `finish`, which
// runs the structural verifier over what it gives.
#ifndef TILEWRIGHT_FRONTEND_GRAPH_GRAPHBUILDER_H
#define TILEWRIGHT_FRONTEND_GRAPH_GRAPHBUILDER_H

#include "frontend/graph/Types.h"
#include "frontend/graph/graph_generated.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/Error.h"

#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace tilewright {

class GraphBuilder;

/// A value of one function. Only the builder that gave it knows what to do with it.
struct ValueId {
  uint32_t index = UINT32_MAX;
};

using AttributeValue = std::variant<int64_t, double, bool, std::string, std::vector<int64_t>, std::vector<double>,
                                    std::vector<std::string>>;

struct Attribute {
  std::string name;
  AttributeValue value;

  Attribute(llvm::StringRef name, AttributeValue value) : name(name.str()), value(std::move(value)) {}
  Attribute(llvm::StringRef name, const char *value) : name(name.str()), value(std::string(value)) {}
  Attribute(llvm::StringRef name, int value) : name(name.str()), value(int64_t(value)) {}
  Attribute(llvm::StringRef name, int64_t value) : name(name.str()), value(value) {}
  Attribute(llvm::StringRef name, double value) : name(name.str()), value(value) {}
  Attribute(llvm::StringRef name, bool value) : name(name.str()), value(value) {}
};

/// Everything an op may have; most ops need only some of it.
struct OpSpec {
  std::string name;
  std::vector<ValueId> operands;
  std::vector<uint32_t> operandSegments; ///< empty: not grouped
  std::vector<Attribute> attributes;
  std::vector<ValueType> resultTypes;
  std::vector<std::string> resultNames; ///< empty: not named
  std::string location;
};

class FunctionBuilder {
public:
  /// Adds an argument. Arguments come before the first op.
  ValueId argument(llvm::StringRef name, ValueType type);

  std::vector<ValueId> op(OpSpec spec);
  /// An op of one result.
  ValueId op(llvm::StringRef name, llvm::ArrayRef<ValueId> operands, ValueType type,
             std::vector<Attribute> attributes = {}, llvm::StringRef resultName = "");

  /// Calls a function added before or after; its result types are taken at once, so it must have its results already.
  std::vector<ValueId> call(const FunctionBuilder &callee, llvm::ArrayRef<ValueId> operands,
                            std::vector<std::string> resultNames = {});

  /// The value of a weight; one op per weight and function, the first time it is asked for. The weight has been added.
  ValueId weight(llvm::StringRef name);

  /// Opens a region of the op made last; ops go into it until `endRegion`. Regions nest.
  std::vector<ValueId> beginRegion(llvm::ArrayRef<ValueType> argumentTypes);
  void endRegion(llvm::ArrayRef<ValueId> yields);

  void results(llvm::ArrayRef<ValueId> values, std::vector<std::string> names = {});

  llvm::StringRef name() const;
  /// The type of a value of this function.
  ValueType typeOf(ValueId value) const;

private:
  friend class GraphBuilder;
  FunctionBuilder(GraphBuilder &graph, llvm::StringRef name);

  ValueId addValue(llvm::StringRef name, const ValueType &type);
  std::vector<std::unique_ptr<graph::OpT>> &body();

  struct OpenRegion {
    graph::RegionT *region;
    llvm::StringMap<ValueId> weights; ///< those that end with it
  };

  GraphBuilder &graph;
  std::unique_ptr<graph::FunctionT> function;
  std::vector<ValueType> types;       ///< by value
  llvm::StringMap<uint32_t> nameUses; ///< how often a value's name was asked for
  llvm::StringMap<ValueId> weights;   ///< those already loaded
  std::vector<OpenRegion> regions;
};

/// Where a weight's bytes are.
struct WeightExtent {
  std::string file; ///< relative, see graph.fbs
  uint64_t offset = 0;
  uint64_t length = 0;
  uint64_t hash = 0; ///< XXH3-64 of the bytes
};

struct RowOrder {
  std::vector<int64_t> dims;
  std::vector<uint32_t> perm;
};

class GraphBuilder {
public:
  explicit GraphBuilder(llvm::StringRef producer);
  ~GraphBuilder();

  /// Adds a function; the reference holds as long as the builder.
  FunctionBuilder &addFunction(llvm::StringRef name);

  void addWeight(llvm::StringRef name, Tensor type, WeightExtent extent, std::optional<RowOrder> order = std::nullopt);
  /// A weight whose parts follow one another along its first dimension, or whose last two dimensions are stored
  /// exchanged, or both.
  void addWeight(llvm::StringRef name, Tensor type, std::vector<WeightExtent> parts, bool transposed);
  /// A weight whose bytes are in the graph file; at most 64 MiB of them in all.
  void addInlineWeight(llvm::StringRef name, Tensor type, llvm::ArrayRef<uint8_t> bytes);

  void setName(llvm::StringRef name);
  void setFamily(llvm::StringRef family);
  void setEntry(llvm::StringRef function);
  /// The function that fills states of group "source".
  void setEncodeEntry(llvm::StringRef function);
  void setContextLength(uint32_t tokens);
  /// 0: sequences are never read again.
  void setRereadLength(uint32_t tokens);
  /// How many token ids there are; by default as many as the tokenizer has tokens.
  void setVocabularySize(uint32_t tokens);
  void setTokenizer(graph::TokenizerT tokenizer);
  void setGeneration(graph::GenerationT generation);

  /// The bytes of the graph file, which pass the checks of `GraphFile` except those of weights files.
  llvm::Expected<std::vector<uint8_t>> finish();

private:
  friend class FunctionBuilder;
  void misuse(const llvm::Twine &what);

  std::unique_ptr<graph::GraphT> graph;
  std::vector<std::unique_ptr<FunctionBuilder>> functions;
  llvm::StringMap<Tensor> weightTypes;
  uint64_t inlineBytes = 0;
  std::string firstMisuse;
};

} // namespace tilewright

#endif // TILEWRIGHT_FRONTEND_GRAPH_GRAPHBUILDER_H
