// REQUIRES: plugin-my_technique
// Named by its file, found by its name, and hidden: then the op is unknown and the error says so.
// RUN: %tw-opt --plugin=%library %s | FileCheck %s
// RUN: %tw-opt --plugin my_technique %s | FileCheck %s
// RUN: not %tw-opt --no-plugin my_technique %s 2>&1 | FileCheck %s --check-prefix=HIDDEN
// RUN: %tilewright plugins list | FileCheck %s --check-prefix=LIST

// CHECK: my_technique.maxout
// HIDDEN: error: Dialect `my_technique' not found for custom op 'my_technique.maxout'
// LIST: my_technique 0.1.0
// LIST-NEXT: file {{.*}}/libtilewright_my_technique.so
// LIST-NEXT: ops {{ *}}my_technique.maxout
// LIST-NEXT: passes my-technique-recognise
func.func @f(%x: tensor<?x8xf32>) -> tensor<?x4xf32> {
  %0 = my_technique.maxout %x {pieces = 2 : i64} : tensor<?x8xf32> -> tensor<?x4xf32>
  return %0 : tensor<?x4xf32>
}
