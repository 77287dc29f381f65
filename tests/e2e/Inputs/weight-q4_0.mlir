// Needs: quantization
!weight = !quantization.q4_0
