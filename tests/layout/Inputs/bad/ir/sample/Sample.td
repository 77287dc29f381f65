// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
def Sample_Dialect : Dialect {
  let name = "other";
}
def Sample_AddOp : Op<"add"> {
  let description = [{ (C1) same shapes }];
  let hasFolder = 1;
}
