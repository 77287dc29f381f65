// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// All ops of the `tw` dialect; one file per concept.
#ifndef TILEWRIGHT_IR_TW_TW
#define TILEWRIGHT_IR_TW_TW

include "ir/tw/TwBase.td"
include "ir/tw/Elementwise.td"
include "ir/tw/Shape.td"
include "ir/tw/Linear.td"
include "ir/tw/Grouped.td"
include "ir/tw/Attention.td"
include "ir/tw/Contraction.td"
include "ir/tw/Dispatch.td"

#endif
