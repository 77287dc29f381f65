// Needs: quantization
!weight = !quantization.q8_0
