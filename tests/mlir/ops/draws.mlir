// Random draws, and images in files: each op once.
//
// RUN: bef_executor --test_init_function=register $(bef_name %s) | golden %s

func @register() {
  %null = "corert.create_null_op_handler"() : () -> !corert.ophandler
  %cpu = "corert.create_cpu_op_handler"(%null) : (!corert.ophandler) -> !corert.ophandler
  corert.register_op_handler %cpu "cpu"
  tfrt.return
}

func @full_integers() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[3]> : tensor<1xi64>
  %x1 = corert.const_dense_tensor dense<[7, 8]> : tensor<2xi64>
  %y0 = corert.executeop(%cpu) "tf.StatelessRandomUniformFullInt"(%x0, %x1) { dtype = i32 } : 1
  %ch1 = "corert.print_tensorhandle"(%y0, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

func @full_integers_of_a_key() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[2]> : tensor<1xi64>
  %x1 = corert.const_dense_tensor dense<[5]> : tensor<1xui64>
  %x2 = corert.const_dense_tensor dense<[1, 2]> : tensor<2xui64>
  %x3 = corert.const_dense_tensor dense<1> : tensor<i32>
  %y0 = corert.executeop(%cpu) "tf.StatelessRandomUniformFullIntV2"(%x0, %x1, %x2, %x3) { dtype = i64 } : 1
  %ch1 = "corert.print_tensorhandle"(%y0, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

func @drawn_classes() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[[0.0, 1.0, 2.0], [3.0, 0.0, -1.0]]> : tensor<2x3xf32>
  %x1 = corert.const_dense_tensor dense<5> : tensor<i32>
  %x2 = corert.const_dense_tensor dense<[1, 2]> : tensor<2xi32>
  %y0 = corert.executeop(%cpu) "tf.StatelessMultinomial"(%x0, %x1, %x2) { output_dtype = i64 } : 1
  %ch1 = "corert.print_tensorhandle"(%y0, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

func @seeded_classes() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[[0.0, 1.0, 2.0]]> : tensor<1x3xf32>
  %x1 = corert.const_dense_tensor dense<5> : tensor<i32>
  %y0 = corert.executeop(%cpu) "tf.Multinomial"(%x0, %x1) { seed = 3 : i64, seed2 = 4 : i64, output_dtype = i32 } : 1
  %ch1 = "corert.print_tensorhandle"(%y0, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

func @permutation() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[6]> : tensor<1xi64>
  %y0 = corert.executeop(%cpu) "tfrt.RandomPermutation"(%x0) { seed = 3 : i64, seed2 = 4 : i64 } : 1
  %ch1 = "corert.print_tensorhandle"(%y0, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

func @permutation_of_a_key() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[6]> : tensor<1xi64>
  %x1 = corert.const_dense_tensor dense<[5]> : tensor<1xui64>
  %x2 = corert.const_dense_tensor dense<[1, 2]> : tensor<2xui64>
  %x3 = corert.const_dense_tensor dense<1> : tensor<i32>
  %y0 = corert.executeop(%cpu) "tfrt.StatelessPermutation"(%x0, %x1, %x2, %x3) : 1
  %ch1 = "corert.print_tensorhandle"(%y0, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

func @png() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_string_tensor {shape = [], value = ["iVBORw0KGgoAAAANSUhEUgAAAAIAAAACCAIAAAD91JpzAAAAFElEQVR42mPgEpE7kcIAAv___wcAFBgEZiZoglgAAAAASUVORK5CYII"]}
  %d0 = corert.executeop(%cpu) "tf.DecodeBase64"(%x0) : 1
  %y0 = corert.executeop(%cpu) "tf.DecodePng"(%d0) : 1
  %ch1 = "corert.print_tensorhandle"(%y0, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

func @png_in_grey() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_string_tensor {shape = [], value = ["iVBORw0KGgoAAAANSUhEUgAAAAIAAAACCAIAAAD91JpzAAAAFElEQVR42mPgEpE7kcIAAv___wcAFBgEZiZoglgAAAAASUVORK5CYII"]}
  %d0 = corert.executeop(%cpu) "tf.DecodeBase64"(%x0) : 1
  %y0 = corert.executeop(%cpu) "tf.DecodePng"(%d0) { channels = 1 : i64, dtype = ui16 } : 1
  %ch1 = "corert.print_tensorhandle"(%y0, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

func @any_image() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_string_tensor {shape = [], value = ["iVBORw0KGgoAAAANSUhEUgAAAAEAAAACCAAAAAC86un7AAAADElEQVR42mNgYDAGAAA3ADRN-H65AAAAAElFTkSuQmCC"]}
  %d0 = corert.executeop(%cpu) "tf.DecodeBase64"(%x0) : 1
  %y0 = corert.executeop(%cpu) "tf.DecodeImage"(%d0) { channels = 3 : i64, dtype = f32 } : 1
  %ch1 = "corert.print_tensorhandle"(%y0, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

func @bmp() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_string_tensor {shape = [], value = ["Qk1GAAAAAAAAADYAAAAoAAAAAgAAAAIAAAABABgAAAAAABAAAAAAAAAAAAAAAAAAAAAAAAAAAQIDBAUGAAAHCAkKCwwAAA"]}
  %d0 = corert.executeop(%cpu) "tf.DecodeBase64"(%x0) : 1
  %y0 = corert.executeop(%cpu) "tf.DecodeBmp"(%d0) : 1
  %ch1 = "corert.print_tensorhandle"(%y0, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

func @jpeg() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_string_tensor {shape = [], value = ["_9j_4AAQSkZJRgABAQEBLAEsAAD_2wBDAAMCAgMCAgMDAwMEAwMEBQgFBQQEBQoHBwYIDAoMDAsKCwsNDhIQDQ4RDgsLEBYQERMUFRUVDA8XGBYUGBIUFRT_2wBDAQMEBAUEBQkFBQkUDQsNFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBT_wAARCAAEAAMDASIAAhEBAxEB_8QAHwAAAQUBAQEBAQEAAAAAAAAAAAECAwQFBgcICQoL_8QAtRAAAgEDAwIEAwUFBAQAAAF9AQIDAAQRBRIhMUEGE1FhByJxFDKBkaEII0KxwRVS0fAkM2JyggkKFhcYGRolJicoKSo0NTY3ODk6Q0RFRkdISUpTVFVWV1hZWmNkZWZnaGlqc3R1dnd4eXqDhIWGh4iJipKTlJWWl5iZmqKjpKWmp6ipqrKztLW2t7i5usLDxMXGx8jJytLT1NXW19jZ2uHi4-Tl5ufo6erx8vP09fb3-Pn6_8QAHwEAAwEBAQEBAQEBAQAAAAAAAAECAwQFBgcICQoL_8QAtREAAgECBAQDBAcFBAQAAQJ3AAECAxEEBSExBhJBUQdhcRMiMoEIFEKRobHBCSMzUvAVYnLRChYkNOEl8RcYGRomJygpKjU2Nzg5OkNERUZHSElKU1RVVldYWVpjZGVmZ2hpanN0dXZ3eHl6goOEhYaHiImKkpOUlZaXmJmaoqOkpaanqKmqsrO0tba3uLm6wsPExcbHyMnK0tPU1dbX2Nna4uPk5ebn6Onq8vP09fb3-Pn6_9oADAMBAAIRAxEAPwCpRRRX4ef0gf_Z"]}
  %d0 = corert.executeop(%cpu) "tf.DecodeBase64"(%x0) : 1
  %y0 = corert.executeop(%cpu) "tf.DecodeJpeg"(%d0) : 1
  %ch1 = "corert.print_tensorhandle"(%y0, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

func @part_of_a_jpeg() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_string_tensor {shape = [], value = ["_9j_4AAQSkZJRgABAQEBLAEsAAD_2wBDAAMCAgMCAgMDAwMEAwMEBQgFBQQEBQoHBwYIDAoMDAsKCwsNDhIQDQ4RDgsLEBYQERMUFRUVDA8XGBYUGBIUFRT_2wBDAQMEBAUEBQkFBQkUDQsNFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBT_wAARCAAEAAMDASIAAhEBAxEB_8QAHwAAAQUBAQEBAQEAAAAAAAAAAAECAwQFBgcICQoL_8QAtRAAAgEDAwIEAwUFBAQAAAF9AQIDAAQRBRIhMUEGE1FhByJxFDKBkaEII0KxwRVS0fAkM2JyggkKFhcYGRolJicoKSo0NTY3ODk6Q0RFRkdISUpTVFVWV1hZWmNkZWZnaGlqc3R1dnd4eXqDhIWGh4iJipKTlJWWl5iZmqKjpKWmp6ipqrKztLW2t7i5usLDxMXGx8jJytLT1NXW19jZ2uHi4-Tl5ufo6erx8vP09fb3-Pn6_8QAHwEAAwEBAQEBAQEBAQAAAAAAAAECAwQFBgcICQoL_8QAtREAAgECBAQDBAcFBAQAAQJ3AAECAxEEBSExBhJBUQdhcRMiMoEIFEKRobHBCSMzUvAVYnLRChYkNOEl8RcYGRomJygpKjU2Nzg5OkNERUZHSElKU1RVVldYWVpjZGVmZ2hpanN0dXZ3eHl6goOEhYaHiImKkpOUlZaXmJmaoqOkpaanqKmqsrO0tba3uLm6wsPExcbHyMnK0tPU1dbX2Nna4uPk5ebn6Onq8vP09fb3-Pn6_9oADAMBAAIRAxEAPwCpRRRX4ef0gf_Z"]}
  %x1 = corert.const_dense_tensor dense<[1, 0, 2, 1]> : tensor<4xi32>
  %d0 = corert.executeop(%cpu) "tf.DecodeBase64"(%x0) : 1
  %y0 = corert.executeop(%cpu) "tf.DecodeAndCropJpeg"(%d0, %x1) { channels = 1 : i64 } : 1
  %ch1 = "corert.print_tensorhandle"(%y0, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

func @jpeg_shape() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_string_tensor {shape = [], value = ["_9j_4AAQSkZJRgABAQEBLAEsAAD_2wBDAAMCAgMCAgMDAwMEAwMEBQgFBQQEBQoHBwYIDAoMDAsKCwsNDhIQDQ4RDgsLEBYQERMUFRUVDA8XGBYUGBIUFRT_2wBDAQMEBAUEBQkFBQkUDQsNFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBT_wAARCAAEAAMDASIAAhEBAxEB_8QAHwAAAQUBAQEBAQEAAAAAAAAAAAECAwQFBgcICQoL_8QAtRAAAgEDAwIEAwUFBAQAAAF9AQIDAAQRBRIhMUEGE1FhByJxFDKBkaEII0KxwRVS0fAkM2JyggkKFhcYGRolJicoKSo0NTY3ODk6Q0RFRkdISUpTVFVWV1hZWmNkZWZnaGlqc3R1dnd4eXqDhIWGh4iJipKTlJWWl5iZmqKjpKWmp6ipqrKztLW2t7i5usLDxMXGx8jJytLT1NXW19jZ2uHi4-Tl5ufo6erx8vP09fb3-Pn6_8QAHwEAAwEBAQEBAQEBAQAAAAAAAAECAwQFBgcICQoL_8QAtREAAgECBAQDBAcFBAQAAQJ3AAECAxEEBSExBhJBUQdhcRMiMoEIFEKRobHBCSMzUvAVYnLRChYkNOEl8RcYGRomJygpKjU2Nzg5OkNERUZHSElKU1RVVldYWVpjZGVmZ2hpanN0dXZ3eHl6goOEhYaHiImKkpOUlZaXmJmaoqOkpaanqKmqsrO0tba3uLm6wsPExcbHyMnK0tPU1dbX2Nna4uPk5ebn6Onq8vP09fb3-Pn6_9oADAMBAAIRAxEAPwCpRRRX4ef0gf_Z"]}
  %d0 = corert.executeop(%cpu) "tf.DecodeBase64"(%x0) : 1
  %y0 = corert.executeop(%cpu) "tf.ExtractJpegShape"(%d0) : 1
  %ch1 = "corert.print_tensorhandle"(%y0, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

func @png_again() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[[[1, 2], [250, 255]]]> : tensor<1x2x2xui8>
  %d0 = corert.executeop(%cpu) "tf.EncodePng"(%x0) { compression = 4 : i64 } : 1
  %y0 = corert.executeop(%cpu) "tf.DecodePng"(%d0) : 1
  %ch1 = "corert.print_tensorhandle"(%y0, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

// OUT: Choosing memory leak check allocator.
// OUT: Choosing single-threaded work queue.
// OUT: --- Running 'register':
// OUT: --- Running 'full_integers':
// OUT: DenseHostTensor dtype = I32, shape = [3], values = [-276475747, 1478766658, -1774886787]
// OUT: 'full_integers' returned !tfrt.chain value
// OUT: --- Running 'full_integers_of_a_key':
// OUT: DenseHostTensor dtype = I64, shape = [2], values = [5704845317768338903, 6162861916808901020]
// OUT: 'full_integers_of_a_key' returned !tfrt.chain value
// OUT: --- Running 'drawn_classes':
// OUT: DenseHostTensor dtype = I64, shape = [2, 5], values = [2, 2, 1, 2, 2, 0, 0, 0, 0, 0]
// OUT: 'drawn_classes' returned !tfrt.chain value
// OUT: --- Running 'seeded_classes':
// OUT: DenseHostTensor dtype = I32, shape = [1, 5], values = [2, 2, 1, 2, 0]
// OUT: 'seeded_classes' returned !tfrt.chain value
// OUT: --- Running 'permutation':
// OUT: DenseHostTensor dtype = I64, shape = [6], values = [3, 1, 0, 5, 2, 4]
// OUT: 'permutation' returned !tfrt.chain value
// OUT: --- Running 'permutation_of_a_key':
// OUT: DenseHostTensor dtype = I64, shape = [6], values = [1, 3, 2, 4, 5, 0]
// OUT: 'permutation_of_a_key' returned !tfrt.chain value
// OUT: --- Running 'png':
// OUT: DenseHostTensor dtype = UI8, shape = [2, 2, 3], values = [10, 20, 30, 200, 100, 0, 0, 0, 0, 255, 255, 255]
// OUT: 'png' returned !tfrt.chain value
// OUT: --- Running 'png_in_grey':
// OUT: DenseHostTensor dtype = UI16, shape = [2, 2, 1], values = [4626, 30326, 0, 65535]
// OUT: 'png_in_grey' returned !tfrt.chain value
// OUT: --- Running 'any_image':
// OUT: DenseHostTensor dtype = F32, shape = [2, 1, 3], values = [0.000000e+00, 0.000000e+00, 0.000000e+00, 2.000000e-01, 2.000000e-01, 2.000000e-01]
// OUT: 'any_image' returned !tfrt.chain value
// OUT: --- Running 'bmp':
// OUT: DenseHostTensor dtype = UI8, shape = [2, 2, 3], values = [9, 8, 7, 12, 11, 10, 3, 2, 1, 6, 5, 4]
// OUT: 'bmp' returned !tfrt.chain value
// OUT: --- Running 'jpeg':
// OUT: DenseHostTensor dtype = UI8, shape = [4, 3, 3], md5sum = 3540794538, values = [200, 100, 50, 200, 100, 50, 200, 100, 50, 200, 100, 50, 200, 100, 50, 200, 100, 50, 200, 100, 50, 200, 100, 50, 200, 100, 50, 200, 100, 50, 200, 100, ... ]
// OUT: 'jpeg' returned !tfrt.chain value
// OUT: --- Running 'part_of_a_jpeg':
// OUT: DenseHostTensor dtype = UI8, shape = [2, 1, 1], values = [124, 124]
// OUT: 'part_of_a_jpeg' returned !tfrt.chain value
// OUT: --- Running 'jpeg_shape':
// OUT: DenseHostTensor dtype = I32, shape = [3], values = [4, 3, 3]
// OUT: 'jpeg_shape' returned !tfrt.chain value
// OUT: --- Running 'png_again':
// OUT: DenseHostTensor dtype = UI8, shape = [1, 2, 2], values = [1, 2, 250, 255]
// OUT: 'png_again' returned !tfrt.chain value
