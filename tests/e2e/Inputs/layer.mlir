// One decoder layer and the step around it; words between @ are replaced by whoever reads this file, which also defines
// !weight and !mixed (weight-*.mlir), the storage types of the linear maps and of those that share a norm with them. Needs: rms_norm rotary_embedding swiglu
ml_program.global private @wq(#ml_program.extern : tensor<@HD@x@E@x!weight>) : tensor<@HD@x@E@x!weight>
ml_program.global private @wk(#ml_program.extern : tensor<@KD@x@E@x!weight>) : tensor<@KD@x@E@x!weight>
ml_program.global private @wv(#ml_program.extern : tensor<@KD@x@E@x!mixed>) : tensor<@KD@x@E@x!mixed>
ml_program.global private @wo(#ml_program.extern : tensor<@E@x@HD@x!weight>) : tensor<@E@x@HD@x!weight>
ml_program.global private @wg(#ml_program.extern : tensor<@F@x@E@x!weight>) : tensor<@F@x@E@x!weight>
ml_program.global private @wu(#ml_program.extern : tensor<@F@x@E@x!mixed>) : tensor<@F@x@E@x!mixed>
ml_program.global private @wd(#ml_program.extern : tensor<@E@x@F@x!weight>) : tensor<@E@x@F@x!weight>
ml_program.global private @emb(#ml_program.extern : tensor<@V@x@E@x!weight>) : tensor<@V@x@E@x!weight>
ml_program.global private @g1(#ml_program.extern : tensor<@E@xf32>) : tensor<@E@xf32>
ml_program.global private @g2(#ml_program.extern : tensor<@E@xf32>) : tensor<@E@xf32>
ml_program.global private @gf(#ml_program.extern : tensor<@E@xf32>) : tensor<@E@xf32>
func.func @layer(%x: tensor<?x@E@xf32>, %pos: tensor<?xi32>, %rs: tensor<?xi32>, %kl: tensor<?xi32>, %s: !tw.state<tensor<?x@K@x@D@xf32>, tensor<?x@K@x@D@xf32>>,
    %wq: tensor<@HD@x@E@x!weight>, %wk: tensor<@KD@x@E@x!weight>, %wv: tensor<@KD@x@E@x!mixed>, %wo: tensor<@E@x@HD@x!weight>, %wg: tensor<@F@x@E@x!weight>,
    %wu: tensor<@F@x@E@x!mixed>, %wd: tensor<@E@x@F@x!weight>, %g1: tensor<@E@xf32>, %g2: tensor<@E@xf32>)
    -> (tensor<?x@E@xf32>, !tw.state<tensor<?x@K@x@D@xf32>, tensor<?x@K@x@D@xf32>>) {
  %n = rms_norm.norm %x weight(%g1 : tensor<@E@xf32>) {epsilon = 1.0e-05 : f64} : tensor<?x@E@xf32>
  %q0 = tw.linear %n, %wq : tensor<?x@E@xf32>, tensor<@HD@x@E@x!weight> -> tensor<?x@HD@xf32>
  %k0 = tw.linear %n, %wk : tensor<?x@E@xf32>, tensor<@KD@x@E@x!weight> -> tensor<?x@KD@xf32>
  %v0 = tw.linear %n, %wv : tensor<?x@E@xf32>, tensor<@KD@x@E@x!mixed> -> tensor<?x@KD@xf32>
  %q1 = tw.reshape %q0 : tensor<?x@HD@xf32> -> tensor<?x@H@x@D@xf32>
  %k1 = tw.reshape %k0 : tensor<?x@KD@xf32> -> tensor<?x@K@x@D@xf32>
  %v = tw.reshape %v0 : tensor<?x@KD@xf32> -> tensor<?x@K@x@D@xf32>
  %q = rotary_embedding.rotate %q1, %pos {base = 10000.0 : f64, rotary_dim = @D@ : i64} : tensor<?x@H@x@D@xf32>, tensor<?xi32>
  %k = rotary_embedding.rotate %k1, %pos {base = 10000.0 : f64, rotary_dim = @D@ : i64} : tensor<?x@K@x@D@xf32>, tensor<?xi32>
  %s1 = tw.append %s, %rs, %k, %v : !tw.state<tensor<?x@K@x@D@xf32>, tensor<?x@K@x@D@xf32>>, tensor<?xi32>, tensor<?x@K@x@D@xf32>, tensor<?x@K@x@D@xf32>
  %a = tw.attention query(%q : tensor<?x@H@x@D@xf32>) state(%s1 : !tw.state<tensor<?x@K@x@D@xf32>, tensor<?x@K@x@D@xf32>>) row_start(%rs : tensor<?xi32>)
         kv_len(%kl : tensor<?xi32>) positions(%pos : tensor<?xi32>) {scale = 0.11 : f64, causal = "end"} -> tensor<?x@H@x@D@xf32>
  %a1 = tw.reshape %a : tensor<?x@H@x@D@xf32> -> tensor<?x@HD@xf32>
  %o = tw.linear %a1, %wo : tensor<?x@HD@xf32>, tensor<@E@x@HD@x!weight> -> tensor<?x@E@xf32>
  %h = tw.add %x, %o : tensor<?x@E@xf32>
  %m = rms_norm.norm %h weight(%g2 : tensor<@E@xf32>) {epsilon = 1.0e-05 : f64} : tensor<?x@E@xf32>
  %ga = tw.linear %m, %wg : tensor<?x@E@xf32>, tensor<@F@x@E@x!weight> -> tensor<?x@F@xf32>
  %up = tw.linear %m, %wu : tensor<?x@E@xf32>, tensor<@F@x@E@x!mixed> -> tensor<?x@F@xf32>
  %gl = swiglu.glu %ga, %up {activation = "silu"} : tensor<?x@F@xf32>
  %d = tw.linear %gl, %wd : tensor<?x@F@xf32>, tensor<@E@x@F@x!weight> -> tensor<?x@E@xf32>
  %y = tw.add %h, %d : tensor<?x@E@xf32>
  return %y, %s1 : tensor<?x@E@xf32>, !tw.state<tensor<?x@K@x@D@xf32>, tensor<?x@K@x@D@xf32>>
}
func.func @step(%tokens: tensor<?xi32> {tw.dims = ["N"]}, %pos: tensor<?xi32> {tw.dims = ["N"]}, %rs: tensor<?xi32> {tw.dims = ["B1"]},
    %kl: tensor<?xi32> {tw.dims = ["B"]}, %ids: tensor<?xi32> {tw.dims = ["R"]}, %s: !tw.state<tensor<?x@K@x@D@xf32>, tensor<?x@K@x@D@xf32>>)
    -> (tensor<?x@V@xf32>, !tw.state<tensor<?x@K@x@D@xf32>, tensor<?x@K@x@D@xf32>>) {
  %wq = ml_program.global_load_const @wq : tensor<@HD@x@E@x!weight>
  %wk = ml_program.global_load_const @wk : tensor<@KD@x@E@x!weight>
  %wv = ml_program.global_load_const @wv : tensor<@KD@x@E@x!mixed>
  %wo = ml_program.global_load_const @wo : tensor<@E@x@HD@x!weight>
  %wg = ml_program.global_load_const @wg : tensor<@F@x@E@x!weight>
  %wu = ml_program.global_load_const @wu : tensor<@F@x@E@x!mixed>
  %wd = ml_program.global_load_const @wd : tensor<@E@x@F@x!weight>
  %emb = ml_program.global_load_const @emb : tensor<@V@x@E@x!weight>
  %g1 = ml_program.global_load_const @g1 : tensor<@E@xf32>
  %g2 = ml_program.global_load_const @g2 : tensor<@E@xf32>
  %gf = ml_program.global_load_const @gf : tensor<@E@xf32>
  %x = tw.gather %emb, %tokens : tensor<@V@x@E@x!weight>, tensor<?xi32> -> tensor<?x@E@xf32>
  %y:2 = call @layer(%x, %pos, %rs, %kl, %s, %wq, %wk, %wv, %wo, %wg, %wu, %wd, %g1, %g2)
    : (tensor<?x@E@xf32>, tensor<?xi32>, tensor<?xi32>, tensor<?xi32>, !tw.state<tensor<?x@K@x@D@xf32>, tensor<?x@K@x@D@xf32>>, tensor<@HD@x@E@x!weight>,
       tensor<@KD@x@E@x!weight>, tensor<@KD@x@E@x!mixed>, tensor<@E@x@HD@x!weight>, tensor<@F@x@E@x!weight>, tensor<@F@x@E@x!mixed>, tensor<@E@x@F@x!weight>, tensor<@E@xf32>, tensor<@E@xf32>)
    -> (tensor<?x@E@xf32>, !tw.state<tensor<?x@K@x@D@xf32>, tensor<?x@K@x@D@xf32>>)
  %f = tw.gather %y#0, %ids : tensor<?x@E@xf32>, tensor<?xi32> -> tensor<?x@E@xf32>
  %n = rms_norm.norm %f weight(%gf : tensor<@E@xf32>) {epsilon = 1.0e-05 : f64} : tensor<?x@E@xf32>
  %logits = tw.linear %n, %emb : tensor<?x@E@xf32>, tensor<@V@x@E@x!weight> -> tensor<?x@V@xf32>
  return %logits, %y#1 : tensor<?x@V@xf32>, !tw.state<tensor<?x@K@x@D@xf32>, tensor<?x@K@x@D@xf32>>
}
