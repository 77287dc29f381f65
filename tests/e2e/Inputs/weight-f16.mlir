// Needs: quantization
!weight = f16
