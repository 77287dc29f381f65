// Needs: quantization
!weight = !quantization.q8_0
!mixed = !quantization.q8_0
