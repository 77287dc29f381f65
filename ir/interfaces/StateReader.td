// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How far back an op reads a state: what the runtime may give up.
#ifndef TILEWRIGHT_IR_STATEREADER
#define TILEWRIGHT_IR_STATEREADER

include "mlir/IR/OpBase.td"

def StateReader : OpInterface<"StateReader"> {
  let cppNamespace = "::tilewright";
  let description = [{
    An op that may not read all tokens of a state (`!tw.state`). The largest reach among the ops that a state gets to is
    its window: pages of tokens in front of it are given up between steps, and no kernel of the op may touch them. An op
    that takes a state without this interface reads all of it.
  }];
  let methods = [InterfaceMethod<[{
      How many of the tokens that a sequence has in `state` a row reads at most, its own as the last of them; tokens behind
      it do not count. 0: it reads none; nothing: it may read any.
    }], "std::optional<int64_t>", "getStateReach", (ins "::mlir::Value":$state)>];
}

#endif
