// RUN: %tw-opt %s -split-input-file -verify-diagnostics -pass-pipeline='builtin.module(func.func(cpu-check-buffers{stack-cap=1024}))'

func.func @fits(%x: memref<4xf32>) {
  %a = memref.alloca() : memref<256xf32>
  return
}

// -----

func.func @heap() {
  // expected-error @below {{allocates on the heap; a kernel's buffers stand on the stack}}
  %a = memref.alloc() : memref<4xf32>
  return
}

// -----

func.func @copy(%x: memref<4xf32>, %y: memref<4xf32>) {
  // expected-error @below {{copies a tile buffer: a value is used after the buffer it stands in was overwritten, or a tile is computed apart from its destination}}
  memref.copy %x, %y : memref<4xf32> to memref<4xf32>
  return
}

// -----

func.func @stack_in_loop(%begin: index, %end: index) {
  %c1 = arith.constant 1 : index
  scf.for %i = %begin to %end step %c1 {
    // expected-error @below {{allocates stack in a loop}}
    %a = memref.alloca() : memref<4xf32>
  }
  return
}

// -----

// expected-error @below {{needs 1088 bytes of stack for its tile buffers, allowed are 1024}}
func.func @too_much() {
  %a = memref.alloca() : memref<256xf32>
  %b = memref.alloca() : memref<1xi8>
  return
}

// -----

// expected-error @below {{has tensors left after bufferisation}}
func.func @tensors() {
  %a = tensor.empty() : tensor<4xf32>
  return
}
