// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Family descriptions: what a kind of model consists of, as data (frontend/families/*.json). A description names
//
//   parameters    numbers, bools and strings by metadata key, with defaults and limits; later ones may use earlier ones
//   requirements  expressions that must hold, with a message of their own; {name} in it is a parameter's value
//   weights       of the model and of each layer: tensor name, shape, row permutation, optional or another in its place
//   functions     arguments, ops by string names, results; a function `per_layer` is made once for each set of layers
//                 whose weights have equal types, and takes its weights as arguments
//   tokenizer     which metadata key each field of the graph's tokenizer comes from
//
// Dimensions and attributes that start with "=" are expressions over the parameters (see Expression.h); a dimension may
// also be one of the description's symbols, or "?". An operand "name?" is left out where that optional weight is
// absent;
// "@name" is a weight of the model, loaded by the function itself. "{layer}" stands for the layer's number inside
// "each_layer". C++ knows this form, and no family and no op.
#ifndef TILEWRIGHT_FRONTEND_IMPORT_FAMILY_H
#define TILEWRIGHT_FRONTEND_IMPORT_FAMILY_H

#include "frontend/import/gguf/TypeTable.h"

#include "llvm/ADT/StringMap.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/JSON.h"

#include <optional>
#include <string>
#include <vector>

namespace tilewright {

enum class ParameterKind { Int, Float, Bool, String };

struct Parameter {
  std::string name;
  ParameterKind kind = ParameterKind::Int;
  std::string key;      ///< metadata key
  std::string countKey; ///< metadata array whose number of entries it is
  std::optional<llvm::json::Value> byDefault;
  std::optional<double> min, max, above;
  std::vector<llvm::json::Value> allowed;
  std::string about; ///< where its value comes from, for messages
};

struct Requirement {
  std::string expression;
  std::string message;
};

struct PermutationRule {
  std::vector<std::string> dims; ///< expressions
  std::vector<uint32_t> perm;
};

struct WeightRule {
  std::string name;
  std::string tensor; ///< its name in GGUF files, with {layer}
  std::vector<std::string> shape;
  bool optional = false;
  std::string otherwise; ///< the weight that stands in when there is no such tensor
  std::optional<PermutationRule> permutation;
};

struct OpRule {
  std::string op;     ///< empty for a call and for each_layer
  std::string callee; ///< of a call
  std::vector<std::vector<std::string>> operandGroups;
  bool grouped = false;
  std::vector<std::string> results;                                  ///< "name: type"; of a call just "name"
  std::vector<std::pair<std::string, llvm::json::Value>> attributes; ///< sorted by name
  std::vector<OpRule> eachLayer;
};

/// "name: type" or "name", once or for each layer.
struct NamedRule {
  std::string text;
  bool eachLayer = false;
};

struct FunctionRule {
  std::string name;
  bool perLayer = false;
  std::vector<NamedRule> arguments;
  std::vector<std::string> weights; ///< "name" or "name?", arguments after the others
  std::vector<OpRule> body;
  std::vector<NamedRule> results;
};

struct TokenizerFlag {
  std::string key;
  std::vector<std::string> defaultFor; ///< tokenizer kinds for which it is true without the key
};

struct TokenizerRule {
  std::string kind, pre, tokens, tokenTypes, merges, scores, bosId, eosId, unkId, padId, chatTemplate;
  TokenizerFlag addBos, addSpacePrefix;
  std::vector<std::string> eotIds;    ///< keys
  std::vector<std::string> eotTokens; ///< texts of tokens that end a text wherever they are control tokens
};

struct Family {
  std::string name;
  std::vector<std::string> architectures; ///< values of general.architecture
  std::string modelNameKey;
  std::string keyPrefix;              ///< keys that belong to the family start so
  std::vector<std::string> knownKeys; ///< keys that carry no meaning for the graph
  std::vector<Parameter> parameters;
  std::vector<Requirement> requirements;
  std::vector<WeightRule> weights;
  std::string layers; ///< expression
  std::vector<WeightRule> layerWeights;
  std::vector<std::string> symbols;
  std::string entry;
  std::string contextLength; ///< expression, or empty
  std::vector<FunctionRule> functions;
  std::optional<TokenizerRule> tokenizer;

  /// Reads a description; `file` names it in messages.
  static llvm::Expected<Family> parse(llvm::StringRef json, llvm::StringRef file);
};

/// All descriptions and the table of GGUF's tensor types: those built in, and over them those of
/// `$TILEWRIGHT_SHARE/families`, a file of an equal name replacing the built-in one.
class FamilyLibrary {
public:
  static llvm::Expected<FamilyLibrary> load();

  /// The family of a GGUF architecture; an unknown one is an error (not supported) that names the nearest known.
  llvm::Expected<const Family *> findArchitecture(llvm::StringRef architecture, llvm::StringRef file) const;

  const std::vector<Family> &families() const { return all; }
  const gguf::TypeTable &ggufTypes() const { return types; }

private:
  std::vector<Family> all;
  gguf::TypeTable types;
};

} // namespace tilewright

#endif // TILEWRIGHT_FRONTEND_IMPORT_FAMILY_H
