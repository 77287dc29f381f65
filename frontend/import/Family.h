// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Family descriptions: what a kind of model consists of, as data. frontend/families/NAME.json is a family; what several
// share lies in frontend/families/forms/NAME.json, and a family that names a form has all that it has, besides its own.
// docs/families.md tells how to write one. A description has
//
//   forms         names of forms
//   gguf, config  which models of that kind of file are of the family, and which metadata has no influence; of GGUF
//                 files of an architecture that families share, `with` tells them apart: {key: whether it is there and
//                 not 0}; the family with the most conditions that hold counts; `unset` keys may be there without a
//                 value alone. Tensors without influence are `ignored_tensors`, on which a `note` may be told to the
//                 user
//   parameters    numbers, bools, strings and lists by metadata key (or, of GGUF files, the number of a list's
//                 entries, or the numbers of a tensor), with defaults and limits, which may use other parameters. One
//                 of the family takes the place of a form's of its name
//                 "when": [P, "a", "b"]: read only where parameter P is a or b; elsewhere it may only be absent or
//                 without influence, which its default is, and what "neutral" says
//   option_rules  of forms: names, defaults and allowed values of what families choose; `per_layer` ones are evaluated
//                 for each layer, where `layer` is its number
//   options       the family's choices
//   requirements  expressions that must hold, with a message of their own; {name} in it is a parameter's or option's
//                 value, {@name} the metadata key that it is read from
//   weights, layer_weights
//                 of the model and of each layer: name, shape, `if` it is there, `optional` or another in its place,
//                 `finite` where a number that is not would choose something at random
//   names         for each kind of file, which tensor (or part of one, or several) a weight is; "{expression}" in a
//   name
//                 is its value
//   macros        lists of ops that bodies use: {"macro": NAME, ...} stands for the ops of NAME with $key replaced
//   functions     arguments, ops by string names, results; a function `per_layer` is made once for each set of layers
//                 whose weights have equal types and whose options are equal, and takes its weights as arguments: those
//                 that it names, or all of a layer's; with `if` for some of the layers only
//   types         spellings that "name: @type" stands for
//   context_length, reread_length
//                 expressions: the longest text; a length past which texts are read again (graph.fbs)
//   entry, encode_entry
//                 the functions that the runtime calls: the step, and what reads sources; "=expression" chooses
//   outputs       what a model may be asked to return besides, and conditions of each: expressions may name `outputs`,
//                 the list of those that were asked for
//   generation    how the model's texts are generated, as expressions: decoder_start_id, forced_bos_id, forced_eos_id
//                 (-1: none), bad_ids (a list)
//
// Conditions (`if`), dimensions, and attributes and options that start with "=" are expressions over parameters and
// options (see Expression.h), and over `gguf` and `config`, of which one is 1. A dimension may also be one of the
// description's symbols, or "?". An operand "name?" is left out where that weight is absent; "@name" is a weight of the
// model, loaded by the function itself. "{layer}" stands for the layer's number inside "each_layer". C++ knows this
// form, and no family and no op.
#ifndef TILEWRIGHT_FRONTEND_IMPORT_FAMILY_H
#define TILEWRIGHT_FRONTEND_IMPORT_FAMILY_H

#include "frontend/import/ModelSource.h"
#include "frontend/import/gguf/TypeTable.h"

#include "llvm/ADT/StringMap.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/JSON.h"

#include <optional>
#include <string>
#include <vector>

namespace tilewright {

/// One of something for each kind of file.
template <typename T> struct BySource {
  T gguf, config;

  T &operator[](SourceKind kind) { return kind == SourceKind::Gguf ? gguf : config; }
  const T &operator[](SourceKind kind) const { return kind == SourceKind::Gguf ? gguf : config; }
};

struct Parameter {
  std::string name;
  ParameterKind kind = ParameterKind::Int;
  BySource<std::vector<std::string>> keys; ///< the first that is there counts; all that are there agree
  std::string countKey;                    ///< metadata array of GGUF files whose number of entries it is
  std::string tensor;                      ///< of GGUF files, whose numbers it lists, [n] f32
  BySource<std::optional<llvm::json::Value>> byDefault;
  std::optional<llvm::json::Value> whenNull; ///< for a key that says that there is no value; without it the default
  std::optional<double> min, max, above;
  BySource<std::vector<llvm::json::Value>> allowed;
  /// A parameter, and its values beside which this one is read; beside others it may only have no influence: be the
  /// default, or neutral. Empty: always.
  BySource<std::vector<std::string>> when;
  std::optional<llvm::json::Value> neutral;
  std::string about; ///< where its value comes from, for messages
};

struct OptionRule {
  std::string name;
  llvm::json::Value byDefault = nullptr;
  std::vector<llvm::json::Value> allowed;
  bool perLayer = false;
};

struct Requirement {
  std::string condition; ///< expression, or empty
  std::string expression;
  std::string message;
};

struct PermutationRule {
  std::vector<std::string> dims; ///< expressions
  std::vector<uint32_t> perm;
};

/// Where a weight lies in one kind of file.
struct TensorRule {
  std::string tensor;              ///< its name, with {expressions}
  std::string from;                ///< of a part: the first row, an expression
  std::string of;                  ///< of a part: the rows of the whole, an expression
  std::vector<std::string> stored; ///< its shape where that is another than the weight's, of as many elements
  std::string parts; ///< of a weight in parts along its first dimension: how many, an expression; {part} in the name
  bool transposed = false; ///< stored with the last two dimensions exchanged
  std::optional<PermutationRule> permutation;
};

struct WeightRule {
  std::string name;
  BySource<std::optional<TensorRule>> tensor;
  std::vector<std::string> shape;
  std::string condition;      ///< expression, or empty
  std::string optional = "0"; ///< expression
  std::string otherwise;      ///< the weight that stands in when there is no such tensor
  bool finite = false;        ///< its floats may be neither NaN nor infinite
};

struct AttributeRule {
  std::string name;
  llvm::json::Value value = nullptr;
  std::string condition; ///< expression, or empty
};

struct OpRule {
  std::string op;     ///< empty for a call, an alias and each_layer
  std::string callee; ///< of a call
  std::string condition;
  std::pair<std::string, std::string> alias; ///< a new name for a value
  std::vector<std::vector<std::string>> operandGroups;
  bool grouped = false;
  std::vector<std::string> results;      ///< "name: type"; of a call just "name"
  std::vector<AttributeRule> attributes; ///< sorted by name
  std::vector<OpRule> eachLayer;
};

/// "name: type" or "name", once or for each layer.
struct NamedRule {
  std::string text;
  bool eachLayer = false;
  std::string condition;
};

struct FunctionRule {
  std::string name;
  bool perLayer = false;
  std::string condition; ///< expression, of the layer if `perLayer`, or empty
  std::vector<NamedRule> arguments;
  std::vector<std::string> weights; ///< "name" or "name?", arguments after the others; by default all of a layer's
  std::vector<OpRule> body;
  std::vector<NamedRule> results;
};

/// Tensors that have no place in the model, and need none.
struct IgnoredTensor {
  std::string name;      ///< with {expressions}; numbers are {layer}; all that begin so, where it ends in '*'
  std::string parts;     ///< how many there are, an expression; {part} in the name; empty: one
  std::string condition; ///< expression, or empty
  std::string note;      ///< what to tell where there is such a tensor, with {expressions}; or empty
};

/// Which models of one kind of file are of a family.
struct ModelRule {
  std::vector<std::string> types;                 ///< values of general.architecture, or of model_type
  std::vector<std::string> architectures;         ///< of the config's field of that name
  std::string nameKey;                            ///< metadata key of the model's name
  std::string prefix;                             ///< keys that belong to the family start so
  std::vector<std::pair<std::string, bool>> with; ///< keys that have to be there and not 0, or not
  std::vector<std::string> ignored;               ///< keys without influence on the graph, with all below them
  std::vector<std::string> unset;                 ///< keys that may be there as null or {} alone
  std::string basePrefix; ///< of all tensors' names but the head's; files of the model without its head may lack it
  std::vector<IgnoredTensor> ignoredTensors;
};

struct Family {
  std::string name;
  BySource<ModelRule> models;
  std::vector<Parameter> parameters;
  std::vector<OptionRule> optionRules;
  llvm::StringMap<llvm::json::Value> options;
  std::vector<Requirement> requirements;
  std::vector<WeightRule> weights;
  std::string layers; ///< expression
  std::vector<WeightRule> layerWeights;
  std::vector<std::string> symbols;
  llvm::StringMap<std::string> types; ///< by name
  std::string entry, encodeEntry;
  std::vector<std::pair<std::string, std::string>> outputs;    ///< those that can be asked for, and conditions
  std::vector<std::pair<std::string, std::string>> generation; ///< fields of the graph's table and expressions
  std::string contextLength;                                   ///< expression, or empty
  std::string rereadLength;                                    ///< expression, or empty
  std::string vocabularySize;                                  ///< expression, or empty: the tokenizer's tokens
  std::vector<FunctionRule> functions;

  /// Null when there is none of this name.
  const Parameter *findParameter(llvm::StringRef name) const;

  /// Reads a description; `file` names it in messages. `forms` are the texts of forms by name.
  static llvm::Expected<Family> parse(llvm::StringRef json, llvm::StringRef file,
                                      const llvm::StringMap<std::string> &forms = {});
};

/// All descriptions and the table of GGUF's tensor types: those built in, and over them those of
/// `$TILEWRIGHT_SHARE/families`, a file of an equal name replacing the built-in one.
class FamilyLibrary {
public:
  /// What a description says of the models that it is for.
  struct Entry {
    std::string file, text;
    std::string name;
    BySource<ModelRule> models;
  };

  static llvm::Expected<FamilyLibrary> load();

  /// Those of the descriptions, which are not read as a whole yet.
  const std::vector<Entry> &entries() const { return all; }
  /// Reads a description with its forms.
  llvm::Expected<Family> read(const Entry &entry) const { return Family::parse(entry.text, entry.file, forms); }
  /// The family of a GGUF architecture or of a config's model_type; an unknown one is an error (not supported) that
  /// names the nearest known. `place` says where it was found, `has` whether a metadata key is there and not 0.
  llvm::Expected<Family> find(SourceKind kind, llvm::StringRef type, const llvm::Twine &place,
                              llvm::function_ref<bool(llvm::StringRef key)> has) const;

  const gguf::TypeTable &ggufTypes() const { return types; }

private:
  std::vector<Entry> all;
  llvm::StringMap<std::string> forms;
  gguf::TypeTable types;
};

} // namespace tilewright

#endif // TILEWRIGHT_FRONTEND_IMPORT_FAMILY_H
