// Needs: quantization
!weight = !quantization.q4_1
!mixed = !quantization.q4_1
