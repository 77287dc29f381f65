// Needs: quantization
!weight = f16
!mixed = f16
