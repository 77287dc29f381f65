!weight = f32
