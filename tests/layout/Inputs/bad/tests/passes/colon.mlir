// RUN: tw-opt %s | FileCheck %s
// CHECK: right
// CHECK-NEXT wrong
// CHECK-NXT: misspelled
