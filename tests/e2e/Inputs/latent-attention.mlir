// Needs: latent_attention
// Attention of low rank over a state of latents and rotary keys; words between @ are replaced by whoever reads this file.
func.func @step(%qn: tensor<?x@H@x@DN@xf32>, %qr: tensor<?x@H@x@R@xf32>, %row: tensor<?x1x@CR@xf32>, %up: tensor<@U@x@C@xf32>,
    %rs: tensor<?xi32> {tw.dims = ["B1"]}, %kl: tensor<?xi32> {tw.dims = ["B"]}, %pos: tensor<?xi32>, %s: !tw.state<tensor<?x1x@CR@xf32>>)
    -> (tensor<?x@H@x@DV@xf32>, !tw.state<tensor<?x1x@CR@xf32>>) {
  %s1 = tw.append %s, %rs, %row : !tw.state<tensor<?x1x@CR@xf32>>, tensor<?xi32>, tensor<?x1x@CR@xf32>
  %o = latent_attention.attention query(%qn, %qr : tensor<?x@H@x@DN@xf32>, tensor<?x@H@x@R@xf32>) up(%up : tensor<@U@x@C@xf32>)
         state(%s1 : !tw.state<tensor<?x1x@CR@xf32>>) row_start(%rs : tensor<?xi32>) kv_len(%kl : tensor<?xi32>) positions(%pos : tensor<?xi32>)
         {causal = "end"} -> tensor<?x@H@x@DV@xf32>
  return %o, %s1 : tensor<?x@H@x@DV@xf32>, !tw.state<tensor<?x1x@CR@xf32>>
}
