// Needs: quantization
!weight = !quantization.q4_0
!mixed = f16
