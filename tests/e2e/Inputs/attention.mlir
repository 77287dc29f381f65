// Attention over a state; words between @ are replaced by whoever reads this file.
func.func @step(%q: tensor<?x@H@x@D@xf32>, %k: tensor<?x@K@x@D@xf32>, %v: tensor<?x@K@x@DV@xf32>, %rs: tensor<?xi32> {tw.dims = ["B1"]}, %kl: tensor<?xi32> {tw.dims = ["B"]},
    %pos: tensor<?xi32>, %sinks: tensor<@H@xf32>, %s: !tw.state<tensor<?x@K@x@D@xf32>, tensor<?x@K@x@DV@xf32>>)
    -> (tensor<?x@H@x@DV@xf32>, !tw.state<tensor<?x@K@x@D@xf32>, tensor<?x@K@x@DV@xf32>>) {
  %s1 = tw.append %s, %rs, %k, %v : !tw.state<tensor<?x@K@x@D@xf32>, tensor<?x@K@x@DV@xf32>>, tensor<?xi32>, tensor<?x@K@x@D@xf32>, tensor<?x@K@x@DV@xf32>
  %o = tw.attention query(%q : tensor<?x@H@x@D@xf32>) state(%s1 : !tw.state<tensor<?x@K@x@D@xf32>, tensor<?x@K@x@DV@xf32>>) row_start(%rs : tensor<?xi32>)
         kv_len(%kl : tensor<?xi32>) positions(%pos : tensor<?xi32>) @SINKS@ {scale = 0.2 : f64, causal = "@CAUSAL@"@MORE@} -> tensor<?x@H@x@DV@xf32>
  return %o, %s1 : tensor<?x@H@x@DV@xf32>, !tw.state<tensor<?x@K@x@D@xf32>, tensor<?x@K@x@DV@xf32>>
}
