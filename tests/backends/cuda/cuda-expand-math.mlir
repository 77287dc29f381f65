// RUN: %tw-opt --pass-pipeline="builtin.module(func.func(cuda-expand-math))" --split-input-file --verify-diagnostics %s | FileCheck %s

// CHECK-LABEL: func.func @exponentials
func.func @exponentials(%x: f32) -> (f32, f32) {
  // CHECK: llvm.call_intrinsic "llvm.nvvm.ex2.approx.ftz.f"(%arg0)
  %a = math.exp2 %x : f32
  // CHECK: math.fma
  // CHECK: llvm.call_intrinsic "llvm.nvvm.ex2.approx.ftz.f"
  // CHECK-NOT: math.exp
  %b = math.exp %x : f32
  return %a, %b : f32, f32
}

// -----

// CHECK-LABEL: func.func @others
func.func @others(%x: f32, %y: f64) -> (f32, f32, f64) {
  // CHECK-NOT: math.sin
  %a = math.sin %x : f32
  // CHECK: math.sqrt
  %b = math.sqrt %x : f32
  // CHECK: math.roundeven
  %c = math.roundeven %y : f64
  return %a, %b, %c : f32, f32, f64
}

// -----

func.func @wide(%x: f64) -> f64 {
  // expected-error@below {{on 'f64' has no form on the GPU}}
  %a = math.exp %x : f64
  return %a : f64
}
