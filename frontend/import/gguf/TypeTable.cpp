// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "frontend/import/gguf/TypeTable.h"

#include "frontend/graph/Errors.h"
#include "frontend/graph/Types.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/JSON.h"

using namespace llvm;

namespace tilewright::gguf {

Expected<TypeTable> TypeTable::parse(StringRef text, StringRef name) {
  Expected<json::Value> document = json::parse(text);
  if (!document)
    return badInput(name + ": " + toString(document.takeError()));
  const json::Object *root = document->getAsObject();
  const json::Array *entries = root ? root->getArray("types") : nullptr;
  if (!entries)
    return badInput(name + ": found no array \"types\", wanted one");
  TypeTable table;
  for (auto [i, entry] : enumerate(*entries)) {
    const json::Object *object = entry.getAsObject();
    std::optional<int64_t> id = object ? object->getInteger("id") : std::nullopt;
    std::optional<StringRef> typeName = object ? object->getString("name") : std::nullopt;
    if (!id || *id < 0 || *id > UINT32_MAX || !typeName)
      return badInput(name + ": types[" + Twine(i) + "]: wanted an \"id\" of 32 bits and a \"name\"");
    int64_t elements = object->getInteger("block_elements").value_or(0);
    int64_t bytes = object->getInteger("block_bytes").value_or(0);
    if (elements < 0 || elements > INT32_MAX || bytes < 0 || bytes > INT32_MAX || (elements == 0) != (bytes == 0))
      return badInput(name + ": types[" + Twine(i) + "]: found block_elements " + Twine(elements) +
                      " and block_bytes " + Twine(bytes) + ", wanted both positive or neither");
    StringRef element = object->getString("element").value_or("");
    if (!element.empty() && elements == 0)
      return badInput(name + ": types[" + Twine(i) + "]: found an element type without a block size, wanted both");
    table.types.push_back({static_cast<uint32_t>(*id), typeName->str(), static_cast<uint64_t>(elements),
                           static_cast<uint64_t>(bytes), element.str()});
  }
  llvm::sort(table.types, [](const BlockType &a, const BlockType &b) { return a.id < b.id; });
  auto twice = std::adjacent_find(table.types.begin(), table.types.end(),
                                  [](const BlockType &a, const BlockType &b) { return a.id == b.id; });
  if (twice != table.types.end())
    return badInput(name + ": found the id " + Twine(twice->id) + " twice, wanted it once");
  return table;
}

const BlockType *TypeTable::find(uint32_t id) const {
  auto it = lower_bound(types, id, [](const BlockType &type, uint32_t wanted) { return type.id < wanted; });
  return it != types.end() && it->id == id ? &*it : nullptr;
}

} // namespace tilewright::gguf
