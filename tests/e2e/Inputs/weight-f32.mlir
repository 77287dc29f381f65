!weight = f32
!mixed = f32
