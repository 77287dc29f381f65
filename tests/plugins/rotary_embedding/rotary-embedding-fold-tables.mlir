// REQUIRES: plugin-rotary_embedding
// RUN: %tw-opt --rotary-embedding-fold-tables --remark-format=emitRemark --remarks-filter='receipt.*' %s 2>&1 | FileCheck %s

// CHECK: remark: [{{.*}}turned by its tables' angles, without tables
// CHECK: remark: [{{.*}}cosine and sine are not the two tables of one rotary_embedding.tables
// CHECK: remark: [{{.*}}the tables have layout interleaved and are applied in layout half
// CHECK: remark: [{{.*}}the tables are rounded to 16 bits

// CHECK-LABEL: func.func @one_op
// CHECK-SAME: (%[[X:.*]]: tensor<?x3x16xf32>, %[[P:.*]]: tensor<3x?xi32>, %[[F:.*]]: tensor<6xf32>)
// CHECK-NEXT: %[[Y:.*]] = rotary_embedding.rotate %[[X]], %[[P]] factors(%[[F]] : tensor<6xf32>) {attention_factor = 1.500000e+00 : f64, base = 5.000000e+05 : f64, layout = "interleaved", rotary_dim = 12 : i64, section_layout = "interleaved", sections = array<i64: 2, 2, 2>}
// CHECK-NEXT: return %[[Y]]
func.func @one_op(%x: tensor<?x3x16xf32>, %p: tensor<3x?xi32>, %f: tensor<6xf32>) -> tensor<?x3x16xf32> {
  %c, %s = rotary_embedding.tables %p factors(%f : tensor<6xf32>) {dim = 12 : i64, base = 500000.0 : f64, layout = "interleaved", attention_factor = 1.5 : f64, sections = array<i64: 2, 2, 2>, section_layout = "interleaved"} : tensor<3x?xi32> -> tensor<?x12xf32>
  %y = rotary_embedding.apply %x, %c, %s {layout = "interleaved"} : tensor<?x3x16xf32>, tensor<?x12xf32>
  return %y : tensor<?x3x16xf32>
}

// CHECK-LABEL: func.func @other_tables
// CHECK: rotary_embedding.apply
func.func @other_tables(%x: tensor<?x3x16xf32>, %p: tensor<?xi32>) -> tensor<?x3x16xf32> {
  %c, %s = rotary_embedding.tables %p {dim = 16 : i64} : tensor<?xi32> -> tensor<?x16xf32>
  %y = rotary_embedding.apply %x, %s, %c : tensor<?x3x16xf32>, tensor<?x16xf32>
  return %y : tensor<?x3x16xf32>
}

// CHECK-LABEL: func.func @other_layout
// CHECK: rotary_embedding.apply
func.func @other_layout(%x: tensor<?x3x16xf32>, %p: tensor<?xi32>) -> tensor<?x3x16xf32> {
  %c, %s = rotary_embedding.tables %p {dim = 16 : i64, layout = "interleaved"} : tensor<?xi32> -> tensor<?x16xf32>
  %y = rotary_embedding.apply %x, %c, %s : tensor<?x3x16xf32>, tensor<?x16xf32>
  return %y : tensor<?x3x16xf32>
}

// CHECK-LABEL: func.func @rounded_tables
// CHECK: rotary_embedding.apply
func.func @rounded_tables(%x: tensor<?x3x16xf32>, %p: tensor<?xi32>) -> tensor<?x3x16xf32> {
  %c, %s = rotary_embedding.tables %p {dim = 16 : i64} : tensor<?xi32> -> tensor<?x16xbf16>
  %y = rotary_embedding.apply %x, %c, %s : tensor<?x3x16xf32>, tensor<?x16xbf16>
  return %y : tensor<?x3x16xf32>
}
