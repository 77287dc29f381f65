// What `tilewright plugins check` tries (docs/conformance.md).
func.func @ragged(%q: tensor<?x4x8xf32>, %k: tensor<?x2x8xf32>, %v: tensor<?x2x8xf32>, %s: !tw.state<tensor<?x2x8xf32>, tensor<?x2x8xf32>>,
    %r: tensor<?xi32> {tw.symbols = ["B+1"], check.input = "offsets N"}, %l: tensor<?xi32> {tw.symbols = ["B"], check.input = "lengths 4"},
    %p: tensor<?xi32> {check.input = "positions 4"}) -> tensor<?x4x8xf32> {
  %t = tw.append %s, %r, %k, %v : !tw.state<tensor<?x2x8xf32>, tensor<?x2x8xf32>>, tensor<?xi32>, tensor<?x2x8xf32>, tensor<?x2x8xf32>
  %o = flash_attention.attention query(%q : tensor<?x4x8xf32>) state(%t : !tw.state<tensor<?x2x8xf32>, tensor<?x2x8xf32>>)
      row_start(%r : tensor<?xi32>) kv_len(%l : tensor<?xi32>) positions(%p : tensor<?xi32>)
      {scale = 0.35 : f64, causal = "end"} -> tensor<?x4x8xf32>
  return %o : tensor<?x4x8xf32>
}

// -----

func.func @variants(%q: tensor<?x4x8xf32>, %k: tensor<?x2x8xf32>, %v: tensor<?x2x8xf32>, %s: !tw.state<tensor<?x2x8xf32>, tensor<?x2x8xf32>>,
    %r: tensor<?xi32> {tw.symbols = ["B+1"], check.input = "offsets N"}, %l: tensor<?xi32> {tw.symbols = ["B"], check.input = "lengths 4"},
    %p: tensor<?xi32> {check.input = "positions 4"}, %z: tensor<4xf32>) -> tensor<?x4x8xf32> {
  %t = tw.append %s, %r, %k, %v : !tw.state<tensor<?x2x8xf32>, tensor<?x2x8xf32>>, tensor<?xi32>, tensor<?x2x8xf32>, tensor<?x2x8xf32>
  %o = flash_attention.attention query(%q : tensor<?x4x8xf32>) state(%t : !tw.state<tensor<?x2x8xf32>, tensor<?x2x8xf32>>)
      row_start(%r : tensor<?xi32>) kv_len(%l : tensor<?xi32>) positions(%p : tensor<?xi32>) sinks(%z : tensor<4xf32>)
      {scale = 0.35 : f64, causal = "end", softcap = 5.0 : f64, window = 3 : i64} -> tensor<?x4x8xf32>
  return %o : tensor<?x4x8xf32>
}

// -----

func.func @dense(%q: tensor<2x4x?x8xf32> {tw.symbols = [2, 4, "T", 8]}, %k: tensor<2x2x?x8xf32> {tw.symbols = [2, 2, "S", 8]},
    %v: tensor<2x2x?x8xf32> {tw.symbols = [2, 2, "S", 8]}, %m: tensor<?x?xi1> {tw.symbols = ["T", "S"]}) -> tensor<2x4x?x8xf32> {
  %o = flash_attention.attention query(%q : tensor<2x4x?x8xf32>) key(%k : tensor<2x2x?x8xf32>) value(%v : tensor<2x2x?x8xf32>)
      mask(%m : tensor<?x?xi1>) {scale = 0.35 : f64} -> tensor<2x4x?x8xf32>
  return %o : tensor<2x4x?x8xf32>
}

// -----

// For flash-attention-fuse.
func.func @core(%q: tensor<?x4x8xf32>, %k: tensor<?x2x8xf32>, %v: tensor<?x2x8xf32>, %s: !tw.state<tensor<?x2x8xf32>, tensor<?x2x8xf32>>,
    %r: tensor<?xi32> {tw.symbols = ["B+1"], check.input = "offsets N"}, %l: tensor<?xi32> {tw.symbols = ["B"], check.input = "lengths 4"},
    %p: tensor<?xi32> {check.input = "positions 4"}) -> tensor<?x4x8xf32> {
  %t = tw.append %s, %r, %k, %v : !tw.state<tensor<?x2x8xf32>, tensor<?x2x8xf32>>, tensor<?xi32>, tensor<?x2x8xf32>, tensor<?x2x8xf32>
  %o = tw.attention query(%q : tensor<?x4x8xf32>) state(%t : !tw.state<tensor<?x2x8xf32>, tensor<?x2x8xf32>>)
      row_start(%r : tensor<?xi32>) kv_len(%l : tensor<?xi32>) positions(%p : tensor<?xi32>)
      {scale = 0.35 : f64, causal = "end"} -> tensor<?x4x8xf32>
  return %o : tensor<?x4x8xf32>
}

// -----

func.func @parts(%q: tensor<1x4x1x8xf32>, %k: tensor<1x2x9x8xf32>, %v: tensor<1x2x9x6xf32>) -> (tensor<3x1x4x1x6xf32>, tensor<3x1x4x1xf32>) {
  %o, %l = flash_attention.partials query(%q : tensor<1x4x1x8xf32>) key(%k : tensor<1x2x9x8xf32>) value(%v : tensor<1x2x9x6xf32>)
      {scale = 0.35 : f64, causal = "end", parts = 3 : i64} -> tensor<3x1x4x1x6xf32>, tensor<3x1x4x1xf32>
  return %o, %l : tensor<3x1x4x1x6xf32>, tensor<3x1x4x1xf32>
}

// -----

// For flash-attention-split-keys.
func.func @many_keys(%q: tensor<1x2x1x4xf32>, %k: tensor<1x1x1030x4xf32>) -> tensor<1x2x1x4xf32> {
  %o = flash_attention.attention query(%q : tensor<1x2x1x4xf32>) key(%k : tensor<1x1x1030x4xf32>) value(%k : tensor<1x1x1030x4xf32>)
      {scale = 0.5 : f64} -> tensor<1x2x1x4xf32>
  return %o : tensor<1x2x1x4xf32>
}

// -----

func.func @partials_c1(%q: tensor<1x5x1x8xf32>, %k: tensor<1x2x9x8xf32>) {
  // expected-error@below {{'tw.attention' op has 5 query heads and 2 key/value heads}}
  %o, %l = flash_attention.partials query(%q : tensor<1x5x1x8xf32>) key(%k : tensor<1x2x9x8xf32>) value(%k : tensor<1x2x9x8xf32>)
      {scale = 0.35 : f64, parts = 3 : i64} -> tensor<3x1x5x1x8xf32>, tensor<3x1x5x1xf32>
  return
}

// -----

func.func @partials_c2(%q: tensor<1x4x1x8xf32>, %k: tensor<1x2x9x8xf32>) {
  // expected-error@below {{parts is 1, wanted at least 2}}
  %o, %l = flash_attention.partials query(%q : tensor<1x4x1x8xf32>) key(%k : tensor<1x2x9x8xf32>) value(%k : tensor<1x2x9x8xf32>)
      {scale = 0.35 : f64, parts = 1 : i64} -> tensor<1x1x4x1x8xf32>, tensor<1x1x4x1xf32>
  return
}

// -----

func.func @partials_c3(%q: tensor<1x4x1x8xf32>, %k: tensor<1x2x9x8xf32>, %s: tensor<4xf32>) {
  // expected-error@below {{wants the dense form of static shapes, without cu_seqlens_q and sinks}}
  %o, %l = flash_attention.partials query(%q : tensor<1x4x1x8xf32>) key(%k : tensor<1x2x9x8xf32>) value(%k : tensor<1x2x9x8xf32>)
      sinks(%s : tensor<4xf32>) {scale = 0.35 : f64, parts = 2 : i64} -> tensor<2x1x4x1x8xf32>, tensor<2x1x4x1xf32>
  return
}

// -----

func.func @partials_c4(%q: tensor<1x4x1x8xf32>, %k: tensor<1x2x9x8xf32>) {
  // expected-error@below {{has a result of type 'tensor<3x1x4x1x8xf32>', wanted 2 parts of f32 or f64}}
  %o, %l = flash_attention.partials query(%q : tensor<1x4x1x8xf32>) key(%k : tensor<1x2x9x8xf32>) value(%k : tensor<1x2x9x8xf32>)
      {scale = 0.35 : f64, parts = 2 : i64} -> tensor<3x1x4x1x8xf32>, tensor<2x1x4x1xf32>
  return
}

// -----

// The rules are tw.attention's, and so are the messages.

func.func @attention_c1(%q: tensor<1x5x3x8xf32>, %k: tensor<1x2x4x8xf32>) {
  // expected-error@below {{'tw.attention' op has 5 query heads and 2 key/value heads, wanted a static multiple of at least one}}
  %o = flash_attention.attention query(%q : tensor<1x5x3x8xf32>) key(%k : tensor<1x2x4x8xf32>) value(%k : tensor<1x2x4x8xf32>) {scale = 1.0 : f64} -> tensor<1x5x3x8xf32>
  return
}

// -----

func.func @attention_c1_form(%q: tensor<1x5x3x8xf32>) {
  // expected-error@below {{'tw.attention' op wanted either key and value, or state, row_start, kv_len and positions}}
  %o = flash_attention.attention query(%q : tensor<1x5x3x8xf32>) {scale = 1.0 : f64} -> tensor<1x5x3x8xf32>
  return
}

// -----

func.func @attention_c1_window(%q: tensor<1x2x3x8xf32>) {
  // expected-error@below {{'tw.attention' op window is 0, wanted at least 1}}
  %o = flash_attention.attention query(%q : tensor<1x2x3x8xf32>) key(%q : tensor<1x2x3x8xf32>) value(%q : tensor<1x2x3x8xf32>) {scale = 1.0 : f64, window = 0 : i64} -> tensor<1x2x3x8xf32>
  return
}
