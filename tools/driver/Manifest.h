// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The manifest of an artifact, filled from a graph and a compiled program.
#pragma once

#include "frontend/graph/graph_generated.h"
#include "passes/api/ProgramPlan.h"
#include "runtime/api/artifact_generated.h"
#include "runtime/api/layout.h"

namespace tilewright {

/// The manifest says what runtimes have read from format `version` on.
void needFormat(artifact::ManifestT &manifest, uint32_t version);

/// What the graph says that the runtime needs: names, sizes, tokenizer.
void describeGraph(const graph::Graph &graph, artifact::ManifestT &manifest);

/// Index of `layout` in the manifest's table, added if it is new (told apart by name).
uint32_t layoutIndex(const LayoutDescriptor &layout, artifact::ManifestT &manifest);

/// A step variant's three arena figures.
void describeArena(const FunctionPlan &plan, artifact::StepVariantT &variant);

/// The serialised manifest, file identifier included.
std::string serialize(const artifact::ManifestT &manifest);

} // namespace tilewright
