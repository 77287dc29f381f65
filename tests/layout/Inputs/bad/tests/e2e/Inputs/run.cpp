// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
StringRef right = "sample_norm.norm";
StringRef wrong = "libtilewright_sample_norm.so";
