// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Exists so that one precompiled header serves every LLVM-facing target.
