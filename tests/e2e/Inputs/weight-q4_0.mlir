// Needs: quantization
!weight = !quantization.q4_0
!mixed = !quantization.q4_0
