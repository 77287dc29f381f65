// Tokens of width 256 through experts of 512 hidden units. Work follows the experts that are chosen: eight for each token are
// eight times one, and two of 64 cost what two of 8 do (more of them are read where there are many tokens).
ml_program.global private @up_8(dense<0.01> : tensor<8x512x256xf32>) : tensor<8x512x256xf32>
ml_program.global private @gate_8(dense<0.02> : tensor<8x512x256xf32>) : tensor<8x512x256xf32>
ml_program.global private @down_8(dense<0.03> : tensor<8x256x512xf32>) : tensor<8x256x512xf32>
ml_program.global private @up_64(dense<0.01> : tensor<64x512x256xf32>) : tensor<64x512x256xf32>
ml_program.global private @gate_64(dense<0.02> : tensor<64x512x256xf32>) : tensor<64x512x256xf32>
ml_program.global private @down_64(dense<0.03> : tensor<64x256x512xf32>) : tensor<64x256x512xf32>
func.func @top_1_of_8(%x: tensor<?x256xf32>, %router: tensor<8x256xf32>) -> tensor<?x256xf32> {
  %u = ml_program.global_load_const @up_8 : tensor<8x512x256xf32>
  %g = ml_program.global_load_const @gate_8 : tensor<8x512x256xf32>
  %d = ml_program.global_load_const @down_8 : tensor<8x256x512xf32>
  %l = tw.linear %x, %router : tensor<?x256xf32>, tensor<8x256xf32> -> tensor<?x8xf32>
  %w, %i = mixture_of_experts.route %l {gating = "softmax", top_k = 1 : i64, renormalize = true} : tensor<?x8xf32> -> tensor<?x1xf32>, tensor<?x1xi32>
  %y = mixture_of_experts.experts %x, %w, %i up(%u) down(%d) gate(%g) {activation = "silu"}
    : (tensor<?x256xf32>, tensor<?x1xf32>, tensor<?x1xi32>, tensor<8x512x256xf32>, tensor<8x256x512xf32>, tensor<8x512x256xf32>) -> tensor<?x256xf32>
  return %y : tensor<?x256xf32>
}
func.func @top_2_of_8(%x: tensor<?x256xf32>, %router: tensor<8x256xf32>) -> tensor<?x256xf32> {
  %u = ml_program.global_load_const @up_8 : tensor<8x512x256xf32>
  %g = ml_program.global_load_const @gate_8 : tensor<8x512x256xf32>
  %d = ml_program.global_load_const @down_8 : tensor<8x256x512xf32>
  %l = tw.linear %x, %router : tensor<?x256xf32>, tensor<8x256xf32> -> tensor<?x8xf32>
  %w, %i = mixture_of_experts.route %l {gating = "softmax", top_k = 2 : i64, renormalize = true} : tensor<?x8xf32> -> tensor<?x2xf32>, tensor<?x2xi32>
  %y = mixture_of_experts.experts %x, %w, %i up(%u) down(%d) gate(%g) {activation = "silu"}
    : (tensor<?x256xf32>, tensor<?x2xf32>, tensor<?x2xi32>, tensor<8x512x256xf32>, tensor<8x256x512xf32>, tensor<8x512x256xf32>) -> tensor<?x256xf32>
  return %y : tensor<?x256xf32>
}
func.func @top_4_of_8(%x: tensor<?x256xf32>, %router: tensor<8x256xf32>) -> tensor<?x256xf32> {
  %u = ml_program.global_load_const @up_8 : tensor<8x512x256xf32>
  %g = ml_program.global_load_const @gate_8 : tensor<8x512x256xf32>
  %d = ml_program.global_load_const @down_8 : tensor<8x256x512xf32>
  %l = tw.linear %x, %router : tensor<?x256xf32>, tensor<8x256xf32> -> tensor<?x8xf32>
  %w, %i = mixture_of_experts.route %l {gating = "softmax", top_k = 4 : i64, renormalize = true} : tensor<?x8xf32> -> tensor<?x4xf32>, tensor<?x4xi32>
  %y = mixture_of_experts.experts %x, %w, %i up(%u) down(%d) gate(%g) {activation = "silu"}
    : (tensor<?x256xf32>, tensor<?x4xf32>, tensor<?x4xi32>, tensor<8x512x256xf32>, tensor<8x256x512xf32>, tensor<8x512x256xf32>) -> tensor<?x256xf32>
  return %y : tensor<?x256xf32>
}
func.func @top_8_of_8(%x: tensor<?x256xf32>, %router: tensor<8x256xf32>) -> tensor<?x256xf32> {
  %u = ml_program.global_load_const @up_8 : tensor<8x512x256xf32>
  %g = ml_program.global_load_const @gate_8 : tensor<8x512x256xf32>
  %d = ml_program.global_load_const @down_8 : tensor<8x256x512xf32>
  %l = tw.linear %x, %router : tensor<?x256xf32>, tensor<8x256xf32> -> tensor<?x8xf32>
  %w, %i = mixture_of_experts.route %l {gating = "softmax", top_k = 8 : i64, renormalize = true} : tensor<?x8xf32> -> tensor<?x8xf32>, tensor<?x8xi32>
  %y = mixture_of_experts.experts %x, %w, %i up(%u) down(%d) gate(%g) {activation = "silu"}
    : (tensor<?x256xf32>, tensor<?x8xf32>, tensor<?x8xi32>, tensor<8x512x256xf32>, tensor<8x256x512xf32>, tensor<8x512x256xf32>) -> tensor<?x256xf32>
  return %y : tensor<?x256xf32>
}
func.func @top_2_of_64(%x: tensor<?x256xf32>, %router: tensor<64x256xf32>) -> tensor<?x256xf32> {
  %u = ml_program.global_load_const @up_64 : tensor<64x512x256xf32>
  %g = ml_program.global_load_const @gate_64 : tensor<64x512x256xf32>
  %d = ml_program.global_load_const @down_64 : tensor<64x256x512xf32>
  %l = tw.linear %x, %router : tensor<?x256xf32>, tensor<64x256xf32> -> tensor<?x64xf32>
  %w, %i = mixture_of_experts.route %l {gating = "softmax", top_k = 2 : i64, renormalize = true} : tensor<?x64xf32> -> tensor<?x2xf32>, tensor<?x2xi32>
  %y = mixture_of_experts.experts %x, %w, %i up(%u) down(%d) gate(%g) {activation = "silu"}
    : (tensor<?x256xf32>, tensor<?x2xf32>, tensor<?x2xi32>, tensor<64x512x256xf32>, tensor<64x256x512xf32>, tensor<64x512x256xf32>) -> tensor<?x256xf32>
  return %y : tensor<?x256xf32>
}
