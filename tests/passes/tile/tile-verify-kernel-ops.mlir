// RUN: %tw-opt %s --split-input-file --tile-verify-kernel-ops --verify-diagnostics

// Only kernels are held to the op set.
func.func @graph(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = tw.neg %x : tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

func.func private @kernel(%a: memref<4xf32>, %begin: index, %end: index) attributes {tw.kernel} {
  %x = bufferization.to_tensor %a restrict writable : memref<4xf32> to tensor<4xf32>
  // expected-error @below {{'tw.neg' op stands in kernel 'kernel', but is not in the kernel-level op set}}
  %y = tw.neg %x : tensor<4xf32>
  bufferization.materialize_in_destination %y in restrict writable %a : (tensor<4xf32>, memref<4xf32>) -> ()
  return
}

// -----

// Single numbers come from index tables only.
func.func private @kernel(%a: memref<4xf32>, %begin: index, %end: index) attributes {tw.kernel} {
  %x = bufferization.to_tensor %a restrict : memref<4xf32> to tensor<4xf32>
  // expected-error @below {{'tensor.extract' op stands in kernel 'kernel', but is not in the kernel-level op set}}
  %y = tensor.extract %x[%begin] : tensor<4xf32>
  return
}
