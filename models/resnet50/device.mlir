// ResNet-50 (torchvision's) for images of 224 x 224 pixels in f32, on a device.
// Written by `tfrt resnet50 program`.

// Prints the likeliest classes of an image.
func @main(%image: !t.tensor) -> !tfrt.chain {
  %images = "tfrt_image.prepare.f32"(%image) { bgr = false, crop = 224 : i64, deviation = [58.395 : f32, 57.12 : f32, 57.375 : f32], mean = [123.675 : f32, 116.28 : f32, 103.53 : f32], side = 256 : i64 } : (!t.tensor) -> !t.tensor
  %p0, %p1, %p2, %p3, %p4 = tfrt.call @setup() : () -> (!tfrt_cuda.turns, !tfrt_cuda.stream, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.graph)
  %scores = tfrt.call @infer(%p0, %p1, %p2, %p3, %p4, %images) : (!tfrt_cuda.turns, !tfrt_cuda.stream, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.graph, !t.tensor) -> !t.tensor
  %ch0 = tfrt.new.chain
  %ch1 = "tfrt_resnet50.report"(%scores, %ch0) { count = 5 : i64 } : (!t.tensor, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

// Weights, memory, and the graph that is launched.
func @setup() -> (!tfrt_cuda.turns, !tfrt_cuda.stream, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.graph) {
  %0:2 = tfrt_resnet50.weights.f32 {layer = "conv1", layout = "OHWI", seed = 1 : i64, variant = "torchvision"}
  %1:2 = tfrt_resnet50.weights.f32 {layer = "layer1.0.downsample.0", layout = "OHWI", seed = 1 : i64, variant = "torchvision"}
  %2:2 = tfrt_resnet50.weights.f32 {layer = "layer1.0.conv1", layout = "OHWI", seed = 1 : i64, variant = "torchvision"}
  %3:2 = tfrt_resnet50.weights.f32 {layer = "layer1.0.conv2", layout = "OHWI", seed = 1 : i64, variant = "torchvision"}
  %4:2 = tfrt_resnet50.weights.f32 {layer = "layer1.0.conv3", layout = "OHWI", seed = 1 : i64, variant = "torchvision"}
  %5:2 = tfrt_resnet50.weights.f32 {layer = "layer1.1.conv1", layout = "OHWI", seed = 1 : i64, variant = "torchvision"}
  %6:2 = tfrt_resnet50.weights.f32 {layer = "layer1.1.conv2", layout = "OHWI", seed = 1 : i64, variant = "torchvision"}
  %7:2 = tfrt_resnet50.weights.f32 {layer = "layer1.1.conv3", layout = "OHWI", seed = 1 : i64, variant = "torchvision"}
  %8:2 = tfrt_resnet50.weights.f32 {layer = "layer1.2.conv1", layout = "OHWI", seed = 1 : i64, variant = "torchvision"}
  %9:2 = tfrt_resnet50.weights.f32 {layer = "layer1.2.conv2", layout = "OHWI", seed = 1 : i64, variant = "torchvision"}
  %10:2 = tfrt_resnet50.weights.f32 {layer = "layer1.2.conv3", layout = "OHWI", seed = 1 : i64, variant = "torchvision"}
  %11:2 = tfrt_resnet50.weights.f32 {layer = "layer2.0.downsample.0", layout = "OHWI", seed = 1 : i64, variant = "torchvision"}
  %12:2 = tfrt_resnet50.weights.f32 {layer = "layer2.0.conv1", layout = "OHWI", seed = 1 : i64, variant = "torchvision"}
  %13:2 = tfrt_resnet50.weights.f32 {layer = "layer2.0.conv2", layout = "OHWI", seed = 1 : i64, variant = "torchvision"}
  %14:2 = tfrt_resnet50.weights.f32 {layer = "layer2.0.conv3", layout = "OHWI", seed = 1 : i64, variant = "torchvision"}
  %15:2 = tfrt_resnet50.weights.f32 {layer = "layer2.1.conv1", layout = "OHWI", seed = 1 : i64, variant = "torchvision"}
  %16:2 = tfrt_resnet50.weights.f32 {layer = "layer2.1.conv2", layout = "OHWI", seed = 1 : i64, variant = "torchvision"}
  %17:2 = tfrt_resnet50.weights.f32 {layer = "layer2.1.conv3", layout = "OHWI", seed = 1 : i64, variant = "torchvision"}
  %18:2 = tfrt_resnet50.weights.f32 {layer = "layer2.2.conv1", layout = "OHWI", seed = 1 : i64, variant = "torchvision"}
  %19:2 = tfrt_resnet50.weights.f32 {layer = "layer2.2.conv2", layout = "OHWI", seed = 1 : i64, variant = "torchvision"}
  %20:2 = tfrt_resnet50.weights.f32 {layer = "layer2.2.conv3", layout = "OHWI", seed = 1 : i64, variant = "torchvision"}
  %21:2 = tfrt_resnet50.weights.f32 {layer = "layer2.3.conv1", layout = "OHWI", seed = 1 : i64, variant = "torchvision"}
  %22:2 = tfrt_resnet50.weights.f32 {layer = "layer2.3.conv2", layout = "OHWI", seed = 1 : i64, variant = "torchvision"}
  %23:2 = tfrt_resnet50.weights.f32 {layer = "layer2.3.conv3", layout = "OHWI", seed = 1 : i64, variant = "torchvision"}
  %24:2 = tfrt_resnet50.weights.f32 {layer = "layer3.0.downsample.0", layout = "OHWI", seed = 1 : i64, variant = "torchvision"}
  %25:2 = tfrt_resnet50.weights.f32 {layer = "layer3.0.conv1", layout = "OHWI", seed = 1 : i64, variant = "torchvision"}
  %26:2 = tfrt_resnet50.weights.f32 {layer = "layer3.0.conv2", layout = "OHWI", seed = 1 : i64, variant = "torchvision"}
  %27:2 = tfrt_resnet50.weights.f32 {layer = "layer3.0.conv3", layout = "OHWI", seed = 1 : i64, variant = "torchvision"}
  %28:2 = tfrt_resnet50.weights.f32 {layer = "layer3.1.conv1", layout = "OHWI", seed = 1 : i64, variant = "torchvision"}
  %29:2 = tfrt_resnet50.weights.f32 {layer = "layer3.1.conv2", layout = "OHWI", seed = 1 : i64, variant = "torchvision"}
  %30:2 = tfrt_resnet50.weights.f32 {layer = "layer3.1.conv3", layout = "OHWI", seed = 1 : i64, variant = "torchvision"}
  %31:2 = tfrt_resnet50.weights.f32 {layer = "layer3.2.conv1", layout = "OHWI", seed = 1 : i64, variant = "torchvision"}
  %32:2 = tfrt_resnet50.weights.f32 {layer = "layer3.2.conv2", layout = "OHWI", seed = 1 : i64, variant = "torchvision"}
  %33:2 = tfrt_resnet50.weights.f32 {layer = "layer3.2.conv3", layout = "OHWI", seed = 1 : i64, variant = "torchvision"}
  %34:2 = tfrt_resnet50.weights.f32 {layer = "layer3.3.conv1", layout = "OHWI", seed = 1 : i64, variant = "torchvision"}
  %35:2 = tfrt_resnet50.weights.f32 {layer = "layer3.3.conv2", layout = "OHWI", seed = 1 : i64, variant = "torchvision"}
  %36:2 = tfrt_resnet50.weights.f32 {layer = "layer3.3.conv3", layout = "OHWI", seed = 1 : i64, variant = "torchvision"}
  %37:2 = tfrt_resnet50.weights.f32 {layer = "layer3.4.conv1", layout = "OHWI", seed = 1 : i64, variant = "torchvision"}
  %38:2 = tfrt_resnet50.weights.f32 {layer = "layer3.4.conv2", layout = "OHWI", seed = 1 : i64, variant = "torchvision"}
  %39:2 = tfrt_resnet50.weights.f32 {layer = "layer3.4.conv3", layout = "OHWI", seed = 1 : i64, variant = "torchvision"}
  %40:2 = tfrt_resnet50.weights.f32 {layer = "layer3.5.conv1", layout = "OHWI", seed = 1 : i64, variant = "torchvision"}
  %41:2 = tfrt_resnet50.weights.f32 {layer = "layer3.5.conv2", layout = "OHWI", seed = 1 : i64, variant = "torchvision"}
  %42:2 = tfrt_resnet50.weights.f32 {layer = "layer3.5.conv3", layout = "OHWI", seed = 1 : i64, variant = "torchvision"}
  %43:2 = tfrt_resnet50.weights.f32 {layer = "layer4.0.downsample.0", layout = "OHWI", seed = 1 : i64, variant = "torchvision"}
  %44:2 = tfrt_resnet50.weights.f32 {layer = "layer4.0.conv1", layout = "OHWI", seed = 1 : i64, variant = "torchvision"}
  %45:2 = tfrt_resnet50.weights.f32 {layer = "layer4.0.conv2", layout = "OHWI", seed = 1 : i64, variant = "torchvision"}
  %46:2 = tfrt_resnet50.weights.f32 {layer = "layer4.0.conv3", layout = "OHWI", seed = 1 : i64, variant = "torchvision"}
  %47:2 = tfrt_resnet50.weights.f32 {layer = "layer4.1.conv1", layout = "OHWI", seed = 1 : i64, variant = "torchvision"}
  %48:2 = tfrt_resnet50.weights.f32 {layer = "layer4.1.conv2", layout = "OHWI", seed = 1 : i64, variant = "torchvision"}
  %49:2 = tfrt_resnet50.weights.f32 {layer = "layer4.1.conv3", layout = "OHWI", seed = 1 : i64, variant = "torchvision"}
  %50:2 = tfrt_resnet50.weights.f32 {layer = "layer4.2.conv1", layout = "OHWI", seed = 1 : i64, variant = "torchvision"}
  %51:2 = tfrt_resnet50.weights.f32 {layer = "layer4.2.conv2", layout = "OHWI", seed = 1 : i64, variant = "torchvision"}
  %52:2 = tfrt_resnet50.weights.f32 {layer = "layer4.2.conv3", layout = "OHWI", seed = 1 : i64, variant = "torchvision"}
  %53:2 = tfrt_resnet50.weights.f32 {layer = "fc", layout = "IO", seed = 1 : i64, variant = "torchvision"}
  %54 = tfrt.new.chain
  %55 = tfrt_cuda.init %54
  %56 = tfrt.constant.i32 0
  %57:2 = tfrt_cuda.device.get %56, %55
  %58:2 = tfrt_cuda.context.primary %57#0, %57#1
  %59:2 = tfrt_cuda.allocator.create %58#0, %58#1
  %60:2 = tfrt_cuda.stream.create %58#0, %59#1
  %61 = tfrt_cuda.op.queue %60#0
  %62 = tfrt.constant.i64 102121984
  %63:2 = tfrt_cuda.mem.allocate %59#0, %60#0, %62, %60#1
  %64 = tfrt.constant.i64 7831552
  %65:2 = tfrt_cuda.mem.allocate %59#0, %60#0, %64, %63#1
  %66 = tfrt_cuda.mem.slice %63#0 {offset = 0 : i64, size = 37632 : i64}
  %67 = tfrt_cuda.tensor.upload %66, %0#0, %60#0, %65#1 {name = "conv1.filter", type = "64x7x7x3xf32"}
  %68 = tfrt_cuda.mem.slice %63#0 {offset = 37632 : i64, size = 256 : i64}
  %69 = tfrt_cuda.tensor.upload %68, %0#1, %60#0, %67 {name = "conv1.bias", type = "64xf32"}
  %70 = tfrt_cuda.mem.slice %63#0 {offset = 37888 : i64, size = 65536 : i64}
  %71 = tfrt_cuda.tensor.upload %70, %1#0, %60#0, %69 {name = "layer1.0.downsample.0.filter", type = "256x1x1x64xf32"}
  %72 = tfrt_cuda.mem.slice %63#0 {offset = 103424 : i64, size = 1024 : i64}
  %73 = tfrt_cuda.tensor.upload %72, %1#1, %60#0, %71 {name = "layer1.0.downsample.0.bias", type = "256xf32"}
  %74 = tfrt_cuda.mem.slice %63#0 {offset = 104448 : i64, size = 16384 : i64}
  %75 = tfrt_cuda.tensor.upload %74, %2#0, %60#0, %73 {name = "layer1.0.conv1.filter", type = "64x1x1x64xf32"}
  %76 = tfrt_cuda.mem.slice %63#0 {offset = 120832 : i64, size = 256 : i64}
  %77 = tfrt_cuda.tensor.upload %76, %2#1, %60#0, %75 {name = "layer1.0.conv1.bias", type = "64xf32"}
  %78 = tfrt_cuda.mem.slice %63#0 {offset = 121088 : i64, size = 147456 : i64}
  %79 = tfrt_cuda.tensor.upload %78, %3#0, %60#0, %77 {name = "layer1.0.conv2.filter", type = "64x3x3x64xf32"}
  %80 = tfrt_cuda.mem.slice %63#0 {offset = 268544 : i64, size = 256 : i64}
  %81 = tfrt_cuda.tensor.upload %80, %3#1, %60#0, %79 {name = "layer1.0.conv2.bias", type = "64xf32"}
  %82 = tfrt_cuda.mem.slice %63#0 {offset = 268800 : i64, size = 65536 : i64}
  %83 = tfrt_cuda.tensor.upload %82, %4#0, %60#0, %81 {name = "layer1.0.conv3.filter", type = "256x1x1x64xf32"}
  %84 = tfrt_cuda.mem.slice %63#0 {offset = 334336 : i64, size = 1024 : i64}
  %85 = tfrt_cuda.tensor.upload %84, %4#1, %60#0, %83 {name = "layer1.0.conv3.bias", type = "256xf32"}
  %86 = tfrt_cuda.mem.slice %63#0 {offset = 335360 : i64, size = 65536 : i64}
  %87 = tfrt_cuda.tensor.upload %86, %5#0, %60#0, %85 {name = "layer1.1.conv1.filter", type = "64x1x1x256xf32"}
  %88 = tfrt_cuda.mem.slice %63#0 {offset = 400896 : i64, size = 256 : i64}
  %89 = tfrt_cuda.tensor.upload %88, %5#1, %60#0, %87 {name = "layer1.1.conv1.bias", type = "64xf32"}
  %90 = tfrt_cuda.mem.slice %63#0 {offset = 401152 : i64, size = 147456 : i64}
  %91 = tfrt_cuda.tensor.upload %90, %6#0, %60#0, %89 {name = "layer1.1.conv2.filter", type = "64x3x3x64xf32"}
  %92 = tfrt_cuda.mem.slice %63#0 {offset = 548608 : i64, size = 256 : i64}
  %93 = tfrt_cuda.tensor.upload %92, %6#1, %60#0, %91 {name = "layer1.1.conv2.bias", type = "64xf32"}
  %94 = tfrt_cuda.mem.slice %63#0 {offset = 548864 : i64, size = 65536 : i64}
  %95 = tfrt_cuda.tensor.upload %94, %7#0, %60#0, %93 {name = "layer1.1.conv3.filter", type = "256x1x1x64xf32"}
  %96 = tfrt_cuda.mem.slice %63#0 {offset = 614400 : i64, size = 1024 : i64}
  %97 = tfrt_cuda.tensor.upload %96, %7#1, %60#0, %95 {name = "layer1.1.conv3.bias", type = "256xf32"}
  %98 = tfrt_cuda.mem.slice %63#0 {offset = 615424 : i64, size = 65536 : i64}
  %99 = tfrt_cuda.tensor.upload %98, %8#0, %60#0, %97 {name = "layer1.2.conv1.filter", type = "64x1x1x256xf32"}
  %100 = tfrt_cuda.mem.slice %63#0 {offset = 680960 : i64, size = 256 : i64}
  %101 = tfrt_cuda.tensor.upload %100, %8#1, %60#0, %99 {name = "layer1.2.conv1.bias", type = "64xf32"}
  %102 = tfrt_cuda.mem.slice %63#0 {offset = 681216 : i64, size = 147456 : i64}
  %103 = tfrt_cuda.tensor.upload %102, %9#0, %60#0, %101 {name = "layer1.2.conv2.filter", type = "64x3x3x64xf32"}
  %104 = tfrt_cuda.mem.slice %63#0 {offset = 828672 : i64, size = 256 : i64}
  %105 = tfrt_cuda.tensor.upload %104, %9#1, %60#0, %103 {name = "layer1.2.conv2.bias", type = "64xf32"}
  %106 = tfrt_cuda.mem.slice %63#0 {offset = 828928 : i64, size = 65536 : i64}
  %107 = tfrt_cuda.tensor.upload %106, %10#0, %60#0, %105 {name = "layer1.2.conv3.filter", type = "256x1x1x64xf32"}
  %108 = tfrt_cuda.mem.slice %63#0 {offset = 894464 : i64, size = 1024 : i64}
  %109 = tfrt_cuda.tensor.upload %108, %10#1, %60#0, %107 {name = "layer1.2.conv3.bias", type = "256xf32"}
  %110 = tfrt_cuda.mem.slice %63#0 {offset = 895488 : i64, size = 524288 : i64}
  %111 = tfrt_cuda.tensor.upload %110, %11#0, %60#0, %109 {name = "layer2.0.downsample.0.filter", type = "512x1x1x256xf32"}
  %112 = tfrt_cuda.mem.slice %63#0 {offset = 1419776 : i64, size = 2048 : i64}
  %113 = tfrt_cuda.tensor.upload %112, %11#1, %60#0, %111 {name = "layer2.0.downsample.0.bias", type = "512xf32"}
  %114 = tfrt_cuda.mem.slice %63#0 {offset = 1421824 : i64, size = 131072 : i64}
  %115 = tfrt_cuda.tensor.upload %114, %12#0, %60#0, %113 {name = "layer2.0.conv1.filter", type = "128x1x1x256xf32"}
  %116 = tfrt_cuda.mem.slice %63#0 {offset = 1552896 : i64, size = 512 : i64}
  %117 = tfrt_cuda.tensor.upload %116, %12#1, %60#0, %115 {name = "layer2.0.conv1.bias", type = "128xf32"}
  %118 = tfrt_cuda.mem.slice %63#0 {offset = 1553408 : i64, size = 589824 : i64}
  %119 = tfrt_cuda.tensor.upload %118, %13#0, %60#0, %117 {name = "layer2.0.conv2.filter", type = "128x3x3x128xf32"}
  %120 = tfrt_cuda.mem.slice %63#0 {offset = 2143232 : i64, size = 512 : i64}
  %121 = tfrt_cuda.tensor.upload %120, %13#1, %60#0, %119 {name = "layer2.0.conv2.bias", type = "128xf32"}
  %122 = tfrt_cuda.mem.slice %63#0 {offset = 2143744 : i64, size = 262144 : i64}
  %123 = tfrt_cuda.tensor.upload %122, %14#0, %60#0, %121 {name = "layer2.0.conv3.filter", type = "512x1x1x128xf32"}
  %124 = tfrt_cuda.mem.slice %63#0 {offset = 2405888 : i64, size = 2048 : i64}
  %125 = tfrt_cuda.tensor.upload %124, %14#1, %60#0, %123 {name = "layer2.0.conv3.bias", type = "512xf32"}
  %126 = tfrt_cuda.mem.slice %63#0 {offset = 2407936 : i64, size = 262144 : i64}
  %127 = tfrt_cuda.tensor.upload %126, %15#0, %60#0, %125 {name = "layer2.1.conv1.filter", type = "128x1x1x512xf32"}
  %128 = tfrt_cuda.mem.slice %63#0 {offset = 2670080 : i64, size = 512 : i64}
  %129 = tfrt_cuda.tensor.upload %128, %15#1, %60#0, %127 {name = "layer2.1.conv1.bias", type = "128xf32"}
  %130 = tfrt_cuda.mem.slice %63#0 {offset = 2670592 : i64, size = 589824 : i64}
  %131 = tfrt_cuda.tensor.upload %130, %16#0, %60#0, %129 {name = "layer2.1.conv2.filter", type = "128x3x3x128xf32"}
  %132 = tfrt_cuda.mem.slice %63#0 {offset = 3260416 : i64, size = 512 : i64}
  %133 = tfrt_cuda.tensor.upload %132, %16#1, %60#0, %131 {name = "layer2.1.conv2.bias", type = "128xf32"}
  %134 = tfrt_cuda.mem.slice %63#0 {offset = 3260928 : i64, size = 262144 : i64}
  %135 = tfrt_cuda.tensor.upload %134, %17#0, %60#0, %133 {name = "layer2.1.conv3.filter", type = "512x1x1x128xf32"}
  %136 = tfrt_cuda.mem.slice %63#0 {offset = 3523072 : i64, size = 2048 : i64}
  %137 = tfrt_cuda.tensor.upload %136, %17#1, %60#0, %135 {name = "layer2.1.conv3.bias", type = "512xf32"}
  %138 = tfrt_cuda.mem.slice %63#0 {offset = 3525120 : i64, size = 262144 : i64}
  %139 = tfrt_cuda.tensor.upload %138, %18#0, %60#0, %137 {name = "layer2.2.conv1.filter", type = "128x1x1x512xf32"}
  %140 = tfrt_cuda.mem.slice %63#0 {offset = 3787264 : i64, size = 512 : i64}
  %141 = tfrt_cuda.tensor.upload %140, %18#1, %60#0, %139 {name = "layer2.2.conv1.bias", type = "128xf32"}
  %142 = tfrt_cuda.mem.slice %63#0 {offset = 3787776 : i64, size = 589824 : i64}
  %143 = tfrt_cuda.tensor.upload %142, %19#0, %60#0, %141 {name = "layer2.2.conv2.filter", type = "128x3x3x128xf32"}
  %144 = tfrt_cuda.mem.slice %63#0 {offset = 4377600 : i64, size = 512 : i64}
  %145 = tfrt_cuda.tensor.upload %144, %19#1, %60#0, %143 {name = "layer2.2.conv2.bias", type = "128xf32"}
  %146 = tfrt_cuda.mem.slice %63#0 {offset = 4378112 : i64, size = 262144 : i64}
  %147 = tfrt_cuda.tensor.upload %146, %20#0, %60#0, %145 {name = "layer2.2.conv3.filter", type = "512x1x1x128xf32"}
  %148 = tfrt_cuda.mem.slice %63#0 {offset = 4640256 : i64, size = 2048 : i64}
  %149 = tfrt_cuda.tensor.upload %148, %20#1, %60#0, %147 {name = "layer2.2.conv3.bias", type = "512xf32"}
  %150 = tfrt_cuda.mem.slice %63#0 {offset = 4642304 : i64, size = 262144 : i64}
  %151 = tfrt_cuda.tensor.upload %150, %21#0, %60#0, %149 {name = "layer2.3.conv1.filter", type = "128x1x1x512xf32"}
  %152 = tfrt_cuda.mem.slice %63#0 {offset = 4904448 : i64, size = 512 : i64}
  %153 = tfrt_cuda.tensor.upload %152, %21#1, %60#0, %151 {name = "layer2.3.conv1.bias", type = "128xf32"}
  %154 = tfrt_cuda.mem.slice %63#0 {offset = 4904960 : i64, size = 589824 : i64}
  %155 = tfrt_cuda.tensor.upload %154, %22#0, %60#0, %153 {name = "layer2.3.conv2.filter", type = "128x3x3x128xf32"}
  %156 = tfrt_cuda.mem.slice %63#0 {offset = 5494784 : i64, size = 512 : i64}
  %157 = tfrt_cuda.tensor.upload %156, %22#1, %60#0, %155 {name = "layer2.3.conv2.bias", type = "128xf32"}
  %158 = tfrt_cuda.mem.slice %63#0 {offset = 5495296 : i64, size = 262144 : i64}
  %159 = tfrt_cuda.tensor.upload %158, %23#0, %60#0, %157 {name = "layer2.3.conv3.filter", type = "512x1x1x128xf32"}
  %160 = tfrt_cuda.mem.slice %63#0 {offset = 5757440 : i64, size = 2048 : i64}
  %161 = tfrt_cuda.tensor.upload %160, %23#1, %60#0, %159 {name = "layer2.3.conv3.bias", type = "512xf32"}
  %162 = tfrt_cuda.mem.slice %63#0 {offset = 5759488 : i64, size = 2097152 : i64}
  %163 = tfrt_cuda.tensor.upload %162, %24#0, %60#0, %161 {name = "layer3.0.downsample.0.filter", type = "1024x1x1x512xf32"}
  %164 = tfrt_cuda.mem.slice %63#0 {offset = 7856640 : i64, size = 4096 : i64}
  %165 = tfrt_cuda.tensor.upload %164, %24#1, %60#0, %163 {name = "layer3.0.downsample.0.bias", type = "1024xf32"}
  %166 = tfrt_cuda.mem.slice %63#0 {offset = 7860736 : i64, size = 524288 : i64}
  %167 = tfrt_cuda.tensor.upload %166, %25#0, %60#0, %165 {name = "layer3.0.conv1.filter", type = "256x1x1x512xf32"}
  %168 = tfrt_cuda.mem.slice %63#0 {offset = 8385024 : i64, size = 1024 : i64}
  %169 = tfrt_cuda.tensor.upload %168, %25#1, %60#0, %167 {name = "layer3.0.conv1.bias", type = "256xf32"}
  %170 = tfrt_cuda.mem.slice %63#0 {offset = 8386048 : i64, size = 2359296 : i64}
  %171 = tfrt_cuda.tensor.upload %170, %26#0, %60#0, %169 {name = "layer3.0.conv2.filter", type = "256x3x3x256xf32"}
  %172 = tfrt_cuda.mem.slice %63#0 {offset = 10745344 : i64, size = 1024 : i64}
  %173 = tfrt_cuda.tensor.upload %172, %26#1, %60#0, %171 {name = "layer3.0.conv2.bias", type = "256xf32"}
  %174 = tfrt_cuda.mem.slice %63#0 {offset = 10746368 : i64, size = 1048576 : i64}
  %175 = tfrt_cuda.tensor.upload %174, %27#0, %60#0, %173 {name = "layer3.0.conv3.filter", type = "1024x1x1x256xf32"}
  %176 = tfrt_cuda.mem.slice %63#0 {offset = 11794944 : i64, size = 4096 : i64}
  %177 = tfrt_cuda.tensor.upload %176, %27#1, %60#0, %175 {name = "layer3.0.conv3.bias", type = "1024xf32"}
  %178 = tfrt_cuda.mem.slice %63#0 {offset = 11799040 : i64, size = 1048576 : i64}
  %179 = tfrt_cuda.tensor.upload %178, %28#0, %60#0, %177 {name = "layer3.1.conv1.filter", type = "256x1x1x1024xf32"}
  %180 = tfrt_cuda.mem.slice %63#0 {offset = 12847616 : i64, size = 1024 : i64}
  %181 = tfrt_cuda.tensor.upload %180, %28#1, %60#0, %179 {name = "layer3.1.conv1.bias", type = "256xf32"}
  %182 = tfrt_cuda.mem.slice %63#0 {offset = 12848640 : i64, size = 2359296 : i64}
  %183 = tfrt_cuda.tensor.upload %182, %29#0, %60#0, %181 {name = "layer3.1.conv2.filter", type = "256x3x3x256xf32"}
  %184 = tfrt_cuda.mem.slice %63#0 {offset = 15207936 : i64, size = 1024 : i64}
  %185 = tfrt_cuda.tensor.upload %184, %29#1, %60#0, %183 {name = "layer3.1.conv2.bias", type = "256xf32"}
  %186 = tfrt_cuda.mem.slice %63#0 {offset = 15208960 : i64, size = 1048576 : i64}
  %187 = tfrt_cuda.tensor.upload %186, %30#0, %60#0, %185 {name = "layer3.1.conv3.filter", type = "1024x1x1x256xf32"}
  %188 = tfrt_cuda.mem.slice %63#0 {offset = 16257536 : i64, size = 4096 : i64}
  %189 = tfrt_cuda.tensor.upload %188, %30#1, %60#0, %187 {name = "layer3.1.conv3.bias", type = "1024xf32"}
  %190 = tfrt_cuda.mem.slice %63#0 {offset = 16261632 : i64, size = 1048576 : i64}
  %191 = tfrt_cuda.tensor.upload %190, %31#0, %60#0, %189 {name = "layer3.2.conv1.filter", type = "256x1x1x1024xf32"}
  %192 = tfrt_cuda.mem.slice %63#0 {offset = 17310208 : i64, size = 1024 : i64}
  %193 = tfrt_cuda.tensor.upload %192, %31#1, %60#0, %191 {name = "layer3.2.conv1.bias", type = "256xf32"}
  %194 = tfrt_cuda.mem.slice %63#0 {offset = 17311232 : i64, size = 2359296 : i64}
  %195 = tfrt_cuda.tensor.upload %194, %32#0, %60#0, %193 {name = "layer3.2.conv2.filter", type = "256x3x3x256xf32"}
  %196 = tfrt_cuda.mem.slice %63#0 {offset = 19670528 : i64, size = 1024 : i64}
  %197 = tfrt_cuda.tensor.upload %196, %32#1, %60#0, %195 {name = "layer3.2.conv2.bias", type = "256xf32"}
  %198 = tfrt_cuda.mem.slice %63#0 {offset = 19671552 : i64, size = 1048576 : i64}
  %199 = tfrt_cuda.tensor.upload %198, %33#0, %60#0, %197 {name = "layer3.2.conv3.filter", type = "1024x1x1x256xf32"}
  %200 = tfrt_cuda.mem.slice %63#0 {offset = 20720128 : i64, size = 4096 : i64}
  %201 = tfrt_cuda.tensor.upload %200, %33#1, %60#0, %199 {name = "layer3.2.conv3.bias", type = "1024xf32"}
  %202 = tfrt_cuda.mem.slice %63#0 {offset = 20724224 : i64, size = 1048576 : i64}
  %203 = tfrt_cuda.tensor.upload %202, %34#0, %60#0, %201 {name = "layer3.3.conv1.filter", type = "256x1x1x1024xf32"}
  %204 = tfrt_cuda.mem.slice %63#0 {offset = 21772800 : i64, size = 1024 : i64}
  %205 = tfrt_cuda.tensor.upload %204, %34#1, %60#0, %203 {name = "layer3.3.conv1.bias", type = "256xf32"}
  %206 = tfrt_cuda.mem.slice %63#0 {offset = 21773824 : i64, size = 2359296 : i64}
  %207 = tfrt_cuda.tensor.upload %206, %35#0, %60#0, %205 {name = "layer3.3.conv2.filter", type = "256x3x3x256xf32"}
  %208 = tfrt_cuda.mem.slice %63#0 {offset = 24133120 : i64, size = 1024 : i64}
  %209 = tfrt_cuda.tensor.upload %208, %35#1, %60#0, %207 {name = "layer3.3.conv2.bias", type = "256xf32"}
  %210 = tfrt_cuda.mem.slice %63#0 {offset = 24134144 : i64, size = 1048576 : i64}
  %211 = tfrt_cuda.tensor.upload %210, %36#0, %60#0, %209 {name = "layer3.3.conv3.filter", type = "1024x1x1x256xf32"}
  %212 = tfrt_cuda.mem.slice %63#0 {offset = 25182720 : i64, size = 4096 : i64}
  %213 = tfrt_cuda.tensor.upload %212, %36#1, %60#0, %211 {name = "layer3.3.conv3.bias", type = "1024xf32"}
  %214 = tfrt_cuda.mem.slice %63#0 {offset = 25186816 : i64, size = 1048576 : i64}
  %215 = tfrt_cuda.tensor.upload %214, %37#0, %60#0, %213 {name = "layer3.4.conv1.filter", type = "256x1x1x1024xf32"}
  %216 = tfrt_cuda.mem.slice %63#0 {offset = 26235392 : i64, size = 1024 : i64}
  %217 = tfrt_cuda.tensor.upload %216, %37#1, %60#0, %215 {name = "layer3.4.conv1.bias", type = "256xf32"}
  %218 = tfrt_cuda.mem.slice %63#0 {offset = 26236416 : i64, size = 2359296 : i64}
  %219 = tfrt_cuda.tensor.upload %218, %38#0, %60#0, %217 {name = "layer3.4.conv2.filter", type = "256x3x3x256xf32"}
  %220 = tfrt_cuda.mem.slice %63#0 {offset = 28595712 : i64, size = 1024 : i64}
  %221 = tfrt_cuda.tensor.upload %220, %38#1, %60#0, %219 {name = "layer3.4.conv2.bias", type = "256xf32"}
  %222 = tfrt_cuda.mem.slice %63#0 {offset = 28596736 : i64, size = 1048576 : i64}
  %223 = tfrt_cuda.tensor.upload %222, %39#0, %60#0, %221 {name = "layer3.4.conv3.filter", type = "1024x1x1x256xf32"}
  %224 = tfrt_cuda.mem.slice %63#0 {offset = 29645312 : i64, size = 4096 : i64}
  %225 = tfrt_cuda.tensor.upload %224, %39#1, %60#0, %223 {name = "layer3.4.conv3.bias", type = "1024xf32"}
  %226 = tfrt_cuda.mem.slice %63#0 {offset = 29649408 : i64, size = 1048576 : i64}
  %227 = tfrt_cuda.tensor.upload %226, %40#0, %60#0, %225 {name = "layer3.5.conv1.filter", type = "256x1x1x1024xf32"}
  %228 = tfrt_cuda.mem.slice %63#0 {offset = 30697984 : i64, size = 1024 : i64}
  %229 = tfrt_cuda.tensor.upload %228, %40#1, %60#0, %227 {name = "layer3.5.conv1.bias", type = "256xf32"}
  %230 = tfrt_cuda.mem.slice %63#0 {offset = 30699008 : i64, size = 2359296 : i64}
  %231 = tfrt_cuda.tensor.upload %230, %41#0, %60#0, %229 {name = "layer3.5.conv2.filter", type = "256x3x3x256xf32"}
  %232 = tfrt_cuda.mem.slice %63#0 {offset = 33058304 : i64, size = 1024 : i64}
  %233 = tfrt_cuda.tensor.upload %232, %41#1, %60#0, %231 {name = "layer3.5.conv2.bias", type = "256xf32"}
  %234 = tfrt_cuda.mem.slice %63#0 {offset = 33059328 : i64, size = 1048576 : i64}
  %235 = tfrt_cuda.tensor.upload %234, %42#0, %60#0, %233 {name = "layer3.5.conv3.filter", type = "1024x1x1x256xf32"}
  %236 = tfrt_cuda.mem.slice %63#0 {offset = 34107904 : i64, size = 4096 : i64}
  %237 = tfrt_cuda.tensor.upload %236, %42#1, %60#0, %235 {name = "layer3.5.conv3.bias", type = "1024xf32"}
  %238 = tfrt_cuda.mem.slice %63#0 {offset = 34112000 : i64, size = 8388608 : i64}
  %239 = tfrt_cuda.tensor.upload %238, %43#0, %60#0, %237 {name = "layer4.0.downsample.0.filter", type = "2048x1x1x1024xf32"}
  %240 = tfrt_cuda.mem.slice %63#0 {offset = 42500608 : i64, size = 8192 : i64}
  %241 = tfrt_cuda.tensor.upload %240, %43#1, %60#0, %239 {name = "layer4.0.downsample.0.bias", type = "2048xf32"}
  %242 = tfrt_cuda.mem.slice %63#0 {offset = 42508800 : i64, size = 2097152 : i64}
  %243 = tfrt_cuda.tensor.upload %242, %44#0, %60#0, %241 {name = "layer4.0.conv1.filter", type = "512x1x1x1024xf32"}
  %244 = tfrt_cuda.mem.slice %63#0 {offset = 44605952 : i64, size = 2048 : i64}
  %245 = tfrt_cuda.tensor.upload %244, %44#1, %60#0, %243 {name = "layer4.0.conv1.bias", type = "512xf32"}
  %246 = tfrt_cuda.mem.slice %63#0 {offset = 44608000 : i64, size = 9437184 : i64}
  %247 = tfrt_cuda.tensor.upload %246, %45#0, %60#0, %245 {name = "layer4.0.conv2.filter", type = "512x3x3x512xf32"}
  %248 = tfrt_cuda.mem.slice %63#0 {offset = 54045184 : i64, size = 2048 : i64}
  %249 = tfrt_cuda.tensor.upload %248, %45#1, %60#0, %247 {name = "layer4.0.conv2.bias", type = "512xf32"}
  %250 = tfrt_cuda.mem.slice %63#0 {offset = 54047232 : i64, size = 4194304 : i64}
  %251 = tfrt_cuda.tensor.upload %250, %46#0, %60#0, %249 {name = "layer4.0.conv3.filter", type = "2048x1x1x512xf32"}
  %252 = tfrt_cuda.mem.slice %63#0 {offset = 58241536 : i64, size = 8192 : i64}
  %253 = tfrt_cuda.tensor.upload %252, %46#1, %60#0, %251 {name = "layer4.0.conv3.bias", type = "2048xf32"}
  %254 = tfrt_cuda.mem.slice %63#0 {offset = 58249728 : i64, size = 4194304 : i64}
  %255 = tfrt_cuda.tensor.upload %254, %47#0, %60#0, %253 {name = "layer4.1.conv1.filter", type = "512x1x1x2048xf32"}
  %256 = tfrt_cuda.mem.slice %63#0 {offset = 62444032 : i64, size = 2048 : i64}
  %257 = tfrt_cuda.tensor.upload %256, %47#1, %60#0, %255 {name = "layer4.1.conv1.bias", type = "512xf32"}
  %258 = tfrt_cuda.mem.slice %63#0 {offset = 62446080 : i64, size = 9437184 : i64}
  %259 = tfrt_cuda.tensor.upload %258, %48#0, %60#0, %257 {name = "layer4.1.conv2.filter", type = "512x3x3x512xf32"}
  %260 = tfrt_cuda.mem.slice %63#0 {offset = 71883264 : i64, size = 2048 : i64}
  %261 = tfrt_cuda.tensor.upload %260, %48#1, %60#0, %259 {name = "layer4.1.conv2.bias", type = "512xf32"}
  %262 = tfrt_cuda.mem.slice %63#0 {offset = 71885312 : i64, size = 4194304 : i64}
  %263 = tfrt_cuda.tensor.upload %262, %49#0, %60#0, %261 {name = "layer4.1.conv3.filter", type = "2048x1x1x512xf32"}
  %264 = tfrt_cuda.mem.slice %63#0 {offset = 76079616 : i64, size = 8192 : i64}
  %265 = tfrt_cuda.tensor.upload %264, %49#1, %60#0, %263 {name = "layer4.1.conv3.bias", type = "2048xf32"}
  %266 = tfrt_cuda.mem.slice %63#0 {offset = 76087808 : i64, size = 4194304 : i64}
  %267 = tfrt_cuda.tensor.upload %266, %50#0, %60#0, %265 {name = "layer4.2.conv1.filter", type = "512x1x1x2048xf32"}
  %268 = tfrt_cuda.mem.slice %63#0 {offset = 80282112 : i64, size = 2048 : i64}
  %269 = tfrt_cuda.tensor.upload %268, %50#1, %60#0, %267 {name = "layer4.2.conv1.bias", type = "512xf32"}
  %270 = tfrt_cuda.mem.slice %63#0 {offset = 80284160 : i64, size = 9437184 : i64}
  %271 = tfrt_cuda.tensor.upload %270, %51#0, %60#0, %269 {name = "layer4.2.conv2.filter", type = "512x3x3x512xf32"}
  %272 = tfrt_cuda.mem.slice %63#0 {offset = 89721344 : i64, size = 2048 : i64}
  %273 = tfrt_cuda.tensor.upload %272, %51#1, %60#0, %271 {name = "layer4.2.conv2.bias", type = "512xf32"}
  %274 = tfrt_cuda.mem.slice %63#0 {offset = 89723392 : i64, size = 4194304 : i64}
  %275 = tfrt_cuda.tensor.upload %274, %52#0, %60#0, %273 {name = "layer4.2.conv3.filter", type = "2048x1x1x512xf32"}
  %276 = tfrt_cuda.mem.slice %63#0 {offset = 93917696 : i64, size = 8192 : i64}
  %277 = tfrt_cuda.tensor.upload %276, %52#1, %60#0, %275 {name = "layer4.2.conv3.bias", type = "2048xf32"}
  %278 = tfrt_cuda.mem.slice %63#0 {offset = 93925888 : i64, size = 8192000 : i64}
  %279 = tfrt_cuda.tensor.upload %278, %53#0, %60#0, %277 {name = "fc.filter", type = "2048x1000xf32"}
  %280 = tfrt_cuda.mem.slice %63#0 {offset = 102117888 : i64, size = 4000 : i64}
  %281 = tfrt_cuda.tensor.upload %280, %53#1, %60#0, %279 {name = "fc.bias", type = "1000xf32"}
  %282 = tfrt.constant.f32 0.000000e+00
  %283 = tfrt.constant.i64 1957888
  %284 = tfrt_cuda.mem.set.f32 %58#0, %65#0, %282, %283, %60#0, %281
  %285 = "tfrt.call"(%65#0, %63#0, %61, %284) {callee = @run} : (!tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.op_queue, !tfrt.chain) -> !tfrt.chain
  %286 = tfrt_cuda.stream.synchronize %60#0, %285
  %287 = tfrt_cuda.graph.begin_capture %60#0, %286
  %288 = "tfrt.call"(%65#0, %63#0, %61, %287) {callee = @run} : (!tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.op_queue, !tfrt.chain) -> !tfrt.chain
  %289:2 = tfrt_cuda.graph.end_capture %60#0, %288
  %290:2 = tfrt_cuda.turn.create %289#1
  tfrt.return %290#0, %60#0, %65#0, %63#0, %289#0 : !tfrt_cuda.turns, !tfrt_cuda.stream, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.graph
}

// Queues all ops, for the graph to record them.
func @run(%arg0: !tfrt_cuda.buffer, %arg1: !tfrt_cuda.buffer, %arg2: !tfrt_cuda.op_queue, %arg3: !tfrt.chain) -> !tfrt.chain {
  %0 = tfrt_cuda.mem.slice %arg0 {offset = 7225344 : i64, size = 602112 : i64}
  %1 = tfrt_cuda.mem.slice %arg1 {offset = 0 : i64, size = 37632 : i64}
  %2 = tfrt_cuda.mem.slice %arg1 {offset = 37632 : i64, size = 256 : i64}
  %3 = tfrt_cuda.mem.slice %arg0 {offset = 0 : i64, size = 3211264 : i64}
  %4 = tfrt_cuda.op.run %arg2, %arg3, %0, %1, %2, %3 {memory = "result 0", op_attrs = [["activation", "Relu"], ["data_format", "NHWC"], ["dilations", [1, 1, 1, 1]], ["explicit_paddings", [0, 0, 3, 3, 3, 3, 0, 0]], ["filter_format", "OHWI"], ["padding", "EXPLICIT"], ["strides", [1, 2, 2, 1]]], op_name = "tfrt.FusedConv2D", types = "(1x224x224x3xf32, 64x7x7x3xf32, 64xf32) -> (1x112x112x64xf32)"} : (!tfrt_cuda.op_queue, !tfrt.chain, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer) -> !tfrt.chain loc("conv1")
  %5 = tfrt_cuda.mem.slice %arg0 {offset = 6422528 : i64, size = 802816 : i64}
  %6 = tfrt_cuda.op.run %arg2, %4, %3, %5 {memory = "result 0", op_attrs = [["data_format", "NHWC"], ["explicit_paddings", [0, 0, 1, 1, 1, 1, 0, 0]], ["ksize", [1, 3, 3, 1]], ["padding", "EXPLICIT"], ["strides", [1, 2, 2, 1]]], op_name = "tf.MaxPool", types = "(1x112x112x64xf32) -> (1x56x56x64xf32)"} : (!tfrt_cuda.op_queue, !tfrt.chain, !tfrt_cuda.buffer, !tfrt_cuda.buffer) -> !tfrt.chain loc("pooled")
  %7 = tfrt_cuda.mem.slice %arg1 {offset = 37888 : i64, size = 65536 : i64}
  %8 = tfrt_cuda.mem.slice %arg1 {offset = 103424 : i64, size = 1024 : i64}
  %9 = tfrt_cuda.mem.slice %arg0 {offset = 3211264 : i64, size = 3211264 : i64}
  %10 = tfrt_cuda.op.run %arg2, %6, %5, %7, %8, %9 {memory = "result 0", op_attrs = [["activation", ""], ["data_format", "NHWC"], ["dilations", [1, 1, 1, 1]], ["explicit_paddings", [0, 0, 0, 0, 0, 0, 0, 0]], ["filter_format", "OHWI"], ["padding", "EXPLICIT"], ["strides", [1, 1, 1, 1]]], op_name = "tfrt.FusedConv2D", types = "(1x56x56x64xf32, 256x1x1x64xf32, 256xf32) -> (1x56x56x256xf32)"} : (!tfrt_cuda.op_queue, !tfrt.chain, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer) -> !tfrt.chain loc("layer1.0.downsample.0")
  %11 = tfrt_cuda.mem.slice %arg1 {offset = 104448 : i64, size = 16384 : i64}
  %12 = tfrt_cuda.mem.slice %arg1 {offset = 120832 : i64, size = 256 : i64}
  %13 = tfrt_cuda.mem.slice %arg0 {offset = 0 : i64, size = 802816 : i64}
  %14 = tfrt_cuda.op.run %arg2, %10, %5, %11, %12, %13 {memory = "result 0", op_attrs = [["activation", "Relu"], ["data_format", "NHWC"], ["dilations", [1, 1, 1, 1]], ["explicit_paddings", [0, 0, 0, 0, 0, 0, 0, 0]], ["filter_format", "OHWI"], ["padding", "EXPLICIT"], ["strides", [1, 1, 1, 1]]], op_name = "tfrt.FusedConv2D", types = "(1x56x56x64xf32, 64x1x1x64xf32, 64xf32) -> (1x56x56x64xf32)"} : (!tfrt_cuda.op_queue, !tfrt.chain, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer) -> !tfrt.chain loc("layer1.0.conv1")
  %15 = tfrt_cuda.mem.slice %arg1 {offset = 121088 : i64, size = 147456 : i64}
  %16 = tfrt_cuda.mem.slice %arg1 {offset = 268544 : i64, size = 256 : i64}
  %17 = tfrt_cuda.mem.slice %arg0 {offset = 6422528 : i64, size = 802816 : i64}
  %18 = tfrt_cuda.op.run %arg2, %14, %13, %15, %16, %17 {memory = "result 0", op_attrs = [["activation", "Relu"], ["data_format", "NHWC"], ["dilations", [1, 1, 1, 1]], ["explicit_paddings", [0, 0, 1, 1, 1, 1, 0, 0]], ["filter_format", "OHWI"], ["padding", "EXPLICIT"], ["strides", [1, 1, 1, 1]]], op_name = "tfrt.FusedConv2D", types = "(1x56x56x64xf32, 64x3x3x64xf32, 64xf32) -> (1x56x56x64xf32)"} : (!tfrt_cuda.op_queue, !tfrt.chain, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer) -> !tfrt.chain loc("layer1.0.conv2")
  %19 = tfrt_cuda.mem.slice %arg1 {offset = 268800 : i64, size = 65536 : i64}
  %20 = tfrt_cuda.mem.slice %arg1 {offset = 334336 : i64, size = 1024 : i64}
  %21 = tfrt_cuda.mem.slice %arg0 {offset = 0 : i64, size = 3211264 : i64}
  %22 = tfrt_cuda.op.run %arg2, %18, %17, %19, %20, %9, %21 {memory = "result 0", op_attrs = [["activation", "Relu"], ["data_format", "NHWC"], ["dilations", [1, 1, 1, 1]], ["explicit_paddings", [0, 0, 0, 0, 0, 0, 0, 0]], ["filter_format", "OHWI"], ["padding", "EXPLICIT"], ["strides", [1, 1, 1, 1]]], op_name = "tfrt.FusedConv2D", types = "(1x56x56x64xf32, 256x1x1x64xf32, 256xf32, 1x56x56x256xf32) -> (1x56x56x256xf32)"} : (!tfrt_cuda.op_queue, !tfrt.chain, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer) -> !tfrt.chain loc("layer1.0.conv3")
  %23 = tfrt_cuda.mem.slice %arg1 {offset = 335360 : i64, size = 65536 : i64}
  %24 = tfrt_cuda.mem.slice %arg1 {offset = 400896 : i64, size = 256 : i64}
  %25 = tfrt_cuda.mem.slice %arg0 {offset = 3211264 : i64, size = 802816 : i64}
  %26 = tfrt_cuda.op.run %arg2, %22, %21, %23, %24, %25 {memory = "result 0", op_attrs = [["activation", "Relu"], ["data_format", "NHWC"], ["dilations", [1, 1, 1, 1]], ["explicit_paddings", [0, 0, 0, 0, 0, 0, 0, 0]], ["filter_format", "OHWI"], ["padding", "EXPLICIT"], ["strides", [1, 1, 1, 1]]], op_name = "tfrt.FusedConv2D", types = "(1x56x56x256xf32, 64x1x1x256xf32, 64xf32) -> (1x56x56x64xf32)"} : (!tfrt_cuda.op_queue, !tfrt.chain, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer) -> !tfrt.chain loc("layer1.1.conv1")
  %27 = tfrt_cuda.mem.slice %arg1 {offset = 401152 : i64, size = 147456 : i64}
  %28 = tfrt_cuda.mem.slice %arg1 {offset = 548608 : i64, size = 256 : i64}
  %29 = tfrt_cuda.mem.slice %arg0 {offset = 6422528 : i64, size = 802816 : i64}
  %30 = tfrt_cuda.op.run %arg2, %26, %25, %27, %28, %29 {memory = "result 0", op_attrs = [["activation", "Relu"], ["data_format", "NHWC"], ["dilations", [1, 1, 1, 1]], ["explicit_paddings", [0, 0, 1, 1, 1, 1, 0, 0]], ["filter_format", "OHWI"], ["padding", "EXPLICIT"], ["strides", [1, 1, 1, 1]]], op_name = "tfrt.FusedConv2D", types = "(1x56x56x64xf32, 64x3x3x64xf32, 64xf32) -> (1x56x56x64xf32)"} : (!tfrt_cuda.op_queue, !tfrt.chain, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer) -> !tfrt.chain loc("layer1.1.conv2")
  %31 = tfrt_cuda.mem.slice %arg1 {offset = 548864 : i64, size = 65536 : i64}
  %32 = tfrt_cuda.mem.slice %arg1 {offset = 614400 : i64, size = 1024 : i64}
  %33 = tfrt_cuda.mem.slice %arg0 {offset = 3211264 : i64, size = 3211264 : i64}
  %34 = tfrt_cuda.op.run %arg2, %30, %29, %31, %32, %21, %33 {memory = "result 0", op_attrs = [["activation", "Relu"], ["data_format", "NHWC"], ["dilations", [1, 1, 1, 1]], ["explicit_paddings", [0, 0, 0, 0, 0, 0, 0, 0]], ["filter_format", "OHWI"], ["padding", "EXPLICIT"], ["strides", [1, 1, 1, 1]]], op_name = "tfrt.FusedConv2D", types = "(1x56x56x64xf32, 256x1x1x64xf32, 256xf32, 1x56x56x256xf32) -> (1x56x56x256xf32)"} : (!tfrt_cuda.op_queue, !tfrt.chain, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer) -> !tfrt.chain loc("layer1.1.conv3")
  %35 = tfrt_cuda.mem.slice %arg1 {offset = 615424 : i64, size = 65536 : i64}
  %36 = tfrt_cuda.mem.slice %arg1 {offset = 680960 : i64, size = 256 : i64}
  %37 = tfrt_cuda.mem.slice %arg0 {offset = 0 : i64, size = 802816 : i64}
  %38 = tfrt_cuda.op.run %arg2, %34, %33, %35, %36, %37 {memory = "result 0", op_attrs = [["activation", "Relu"], ["data_format", "NHWC"], ["dilations", [1, 1, 1, 1]], ["explicit_paddings", [0, 0, 0, 0, 0, 0, 0, 0]], ["filter_format", "OHWI"], ["padding", "EXPLICIT"], ["strides", [1, 1, 1, 1]]], op_name = "tfrt.FusedConv2D", types = "(1x56x56x256xf32, 64x1x1x256xf32, 64xf32) -> (1x56x56x64xf32)"} : (!tfrt_cuda.op_queue, !tfrt.chain, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer) -> !tfrt.chain loc("layer1.2.conv1")
  %39 = tfrt_cuda.mem.slice %arg1 {offset = 681216 : i64, size = 147456 : i64}
  %40 = tfrt_cuda.mem.slice %arg1 {offset = 828672 : i64, size = 256 : i64}
  %41 = tfrt_cuda.mem.slice %arg0 {offset = 6422528 : i64, size = 802816 : i64}
  %42 = tfrt_cuda.op.run %arg2, %38, %37, %39, %40, %41 {memory = "result 0", op_attrs = [["activation", "Relu"], ["data_format", "NHWC"], ["dilations", [1, 1, 1, 1]], ["explicit_paddings", [0, 0, 1, 1, 1, 1, 0, 0]], ["filter_format", "OHWI"], ["padding", "EXPLICIT"], ["strides", [1, 1, 1, 1]]], op_name = "tfrt.FusedConv2D", types = "(1x56x56x64xf32, 64x3x3x64xf32, 64xf32) -> (1x56x56x64xf32)"} : (!tfrt_cuda.op_queue, !tfrt.chain, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer) -> !tfrt.chain loc("layer1.2.conv2")
  %43 = tfrt_cuda.mem.slice %arg1 {offset = 828928 : i64, size = 65536 : i64}
  %44 = tfrt_cuda.mem.slice %arg1 {offset = 894464 : i64, size = 1024 : i64}
  %45 = tfrt_cuda.mem.slice %arg0 {offset = 0 : i64, size = 3211264 : i64}
  %46 = tfrt_cuda.op.run %arg2, %42, %41, %43, %44, %33, %45 {memory = "result 0", op_attrs = [["activation", "Relu"], ["data_format", "NHWC"], ["dilations", [1, 1, 1, 1]], ["explicit_paddings", [0, 0, 0, 0, 0, 0, 0, 0]], ["filter_format", "OHWI"], ["padding", "EXPLICIT"], ["strides", [1, 1, 1, 1]]], op_name = "tfrt.FusedConv2D", types = "(1x56x56x64xf32, 256x1x1x64xf32, 256xf32, 1x56x56x256xf32) -> (1x56x56x256xf32)"} : (!tfrt_cuda.op_queue, !tfrt.chain, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer) -> !tfrt.chain loc("layer1.2.conv3")
  %47 = tfrt_cuda.mem.slice %arg1 {offset = 895488 : i64, size = 524288 : i64}
  %48 = tfrt_cuda.mem.slice %arg1 {offset = 1419776 : i64, size = 2048 : i64}
  %49 = tfrt_cuda.mem.slice %arg0 {offset = 3211264 : i64, size = 1605632 : i64}
  %50 = tfrt_cuda.op.run %arg2, %46, %45, %47, %48, %49 {memory = "result 0", op_attrs = [["activation", ""], ["data_format", "NHWC"], ["dilations", [1, 1, 1, 1]], ["explicit_paddings", [0, 0, 0, 0, 0, 0, 0, 0]], ["filter_format", "OHWI"], ["padding", "EXPLICIT"], ["strides", [1, 2, 2, 1]]], op_name = "tfrt.FusedConv2D", types = "(1x56x56x256xf32, 512x1x1x256xf32, 512xf32) -> (1x28x28x512xf32)"} : (!tfrt_cuda.op_queue, !tfrt.chain, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer) -> !tfrt.chain loc("layer2.0.downsample.0")
  %51 = tfrt_cuda.mem.slice %arg1 {offset = 1421824 : i64, size = 131072 : i64}
  %52 = tfrt_cuda.mem.slice %arg1 {offset = 1552896 : i64, size = 512 : i64}
  %53 = tfrt_cuda.mem.slice %arg0 {offset = 4816896 : i64, size = 1605632 : i64}
  %54 = tfrt_cuda.op.run %arg2, %50, %45, %51, %52, %53 {memory = "result 0", op_attrs = [["activation", "Relu"], ["data_format", "NHWC"], ["dilations", [1, 1, 1, 1]], ["explicit_paddings", [0, 0, 0, 0, 0, 0, 0, 0]], ["filter_format", "OHWI"], ["padding", "EXPLICIT"], ["strides", [1, 1, 1, 1]]], op_name = "tfrt.FusedConv2D", types = "(1x56x56x256xf32, 128x1x1x256xf32, 128xf32) -> (1x56x56x128xf32)"} : (!tfrt_cuda.op_queue, !tfrt.chain, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer) -> !tfrt.chain loc("layer2.0.conv1")
  %55 = tfrt_cuda.mem.slice %arg1 {offset = 1553408 : i64, size = 589824 : i64}
  %56 = tfrt_cuda.mem.slice %arg1 {offset = 2143232 : i64, size = 512 : i64}
  %57 = tfrt_cuda.mem.slice %arg0 {offset = 1605632 : i64, size = 401408 : i64}
  %58 = tfrt_cuda.op.run %arg2, %54, %53, %55, %56, %57 {memory = "result 0", op_attrs = [["activation", "Relu"], ["data_format", "NHWC"], ["dilations", [1, 1, 1, 1]], ["explicit_paddings", [0, 0, 1, 1, 1, 1, 0, 0]], ["filter_format", "OHWI"], ["padding", "EXPLICIT"], ["strides", [1, 2, 2, 1]]], op_name = "tfrt.FusedConv2D", types = "(1x56x56x128xf32, 128x3x3x128xf32, 128xf32) -> (1x28x28x128xf32)"} : (!tfrt_cuda.op_queue, !tfrt.chain, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer) -> !tfrt.chain loc("layer2.0.conv2")
  %59 = tfrt_cuda.mem.slice %arg1 {offset = 2143744 : i64, size = 262144 : i64}
  %60 = tfrt_cuda.mem.slice %arg1 {offset = 2405888 : i64, size = 2048 : i64}
  %61 = tfrt_cuda.mem.slice %arg0 {offset = 0 : i64, size = 1605632 : i64}
  %62 = tfrt_cuda.op.run %arg2, %58, %57, %59, %60, %49, %61 {memory = "result 0", op_attrs = [["activation", "Relu"], ["data_format", "NHWC"], ["dilations", [1, 1, 1, 1]], ["explicit_paddings", [0, 0, 0, 0, 0, 0, 0, 0]], ["filter_format", "OHWI"], ["padding", "EXPLICIT"], ["strides", [1, 1, 1, 1]]], op_name = "tfrt.FusedConv2D", types = "(1x28x28x128xf32, 512x1x1x128xf32, 512xf32, 1x28x28x512xf32) -> (1x28x28x512xf32)"} : (!tfrt_cuda.op_queue, !tfrt.chain, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer) -> !tfrt.chain loc("layer2.0.conv3")
  %63 = tfrt_cuda.mem.slice %arg1 {offset = 2407936 : i64, size = 262144 : i64}
  %64 = tfrt_cuda.mem.slice %arg1 {offset = 2670080 : i64, size = 512 : i64}
  %65 = tfrt_cuda.mem.slice %arg0 {offset = 1605632 : i64, size = 401408 : i64}
  %66 = tfrt_cuda.op.run %arg2, %62, %61, %63, %64, %65 {memory = "result 0", op_attrs = [["activation", "Relu"], ["data_format", "NHWC"], ["dilations", [1, 1, 1, 1]], ["explicit_paddings", [0, 0, 0, 0, 0, 0, 0, 0]], ["filter_format", "OHWI"], ["padding", "EXPLICIT"], ["strides", [1, 1, 1, 1]]], op_name = "tfrt.FusedConv2D", types = "(1x28x28x512xf32, 128x1x1x512xf32, 128xf32) -> (1x28x28x128xf32)"} : (!tfrt_cuda.op_queue, !tfrt.chain, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer) -> !tfrt.chain loc("layer2.1.conv1")
  %67 = tfrt_cuda.mem.slice %arg1 {offset = 2670592 : i64, size = 589824 : i64}
  %68 = tfrt_cuda.mem.slice %arg1 {offset = 3260416 : i64, size = 512 : i64}
  %69 = tfrt_cuda.mem.slice %arg0 {offset = 3211264 : i64, size = 401408 : i64}
  %70 = tfrt_cuda.op.run %arg2, %66, %65, %67, %68, %69 {memory = "result 0", op_attrs = [["activation", "Relu"], ["data_format", "NHWC"], ["dilations", [1, 1, 1, 1]], ["explicit_paddings", [0, 0, 1, 1, 1, 1, 0, 0]], ["filter_format", "OHWI"], ["padding", "EXPLICIT"], ["strides", [1, 1, 1, 1]]], op_name = "tfrt.FusedConv2D", types = "(1x28x28x128xf32, 128x3x3x128xf32, 128xf32) -> (1x28x28x128xf32)"} : (!tfrt_cuda.op_queue, !tfrt.chain, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer) -> !tfrt.chain loc("layer2.1.conv2")
  %71 = tfrt_cuda.mem.slice %arg1 {offset = 3260928 : i64, size = 262144 : i64}
  %72 = tfrt_cuda.mem.slice %arg1 {offset = 3523072 : i64, size = 2048 : i64}
  %73 = tfrt_cuda.mem.slice %arg0 {offset = 1605632 : i64, size = 1605632 : i64}
  %74 = tfrt_cuda.op.run %arg2, %70, %69, %71, %72, %61, %73 {memory = "result 0", op_attrs = [["activation", "Relu"], ["data_format", "NHWC"], ["dilations", [1, 1, 1, 1]], ["explicit_paddings", [0, 0, 0, 0, 0, 0, 0, 0]], ["filter_format", "OHWI"], ["padding", "EXPLICIT"], ["strides", [1, 1, 1, 1]]], op_name = "tfrt.FusedConv2D", types = "(1x28x28x128xf32, 512x1x1x128xf32, 512xf32, 1x28x28x512xf32) -> (1x28x28x512xf32)"} : (!tfrt_cuda.op_queue, !tfrt.chain, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer) -> !tfrt.chain loc("layer2.1.conv3")
  %75 = tfrt_cuda.mem.slice %arg1 {offset = 3525120 : i64, size = 262144 : i64}
  %76 = tfrt_cuda.mem.slice %arg1 {offset = 3787264 : i64, size = 512 : i64}
  %77 = tfrt_cuda.mem.slice %arg0 {offset = 0 : i64, size = 401408 : i64}
  %78 = tfrt_cuda.op.run %arg2, %74, %73, %75, %76, %77 {memory = "result 0", op_attrs = [["activation", "Relu"], ["data_format", "NHWC"], ["dilations", [1, 1, 1, 1]], ["explicit_paddings", [0, 0, 0, 0, 0, 0, 0, 0]], ["filter_format", "OHWI"], ["padding", "EXPLICIT"], ["strides", [1, 1, 1, 1]]], op_name = "tfrt.FusedConv2D", types = "(1x28x28x512xf32, 128x1x1x512xf32, 128xf32) -> (1x28x28x128xf32)"} : (!tfrt_cuda.op_queue, !tfrt.chain, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer) -> !tfrt.chain loc("layer2.2.conv1")
  %79 = tfrt_cuda.mem.slice %arg1 {offset = 3787776 : i64, size = 589824 : i64}
  %80 = tfrt_cuda.mem.slice %arg1 {offset = 4377600 : i64, size = 512 : i64}
  %81 = tfrt_cuda.mem.slice %arg0 {offset = 3211264 : i64, size = 401408 : i64}
  %82 = tfrt_cuda.op.run %arg2, %78, %77, %79, %80, %81 {memory = "result 0", op_attrs = [["activation", "Relu"], ["data_format", "NHWC"], ["dilations", [1, 1, 1, 1]], ["explicit_paddings", [0, 0, 1, 1, 1, 1, 0, 0]], ["filter_format", "OHWI"], ["padding", "EXPLICIT"], ["strides", [1, 1, 1, 1]]], op_name = "tfrt.FusedConv2D", types = "(1x28x28x128xf32, 128x3x3x128xf32, 128xf32) -> (1x28x28x128xf32)"} : (!tfrt_cuda.op_queue, !tfrt.chain, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer) -> !tfrt.chain loc("layer2.2.conv2")
  %83 = tfrt_cuda.mem.slice %arg1 {offset = 4378112 : i64, size = 262144 : i64}
  %84 = tfrt_cuda.mem.slice %arg1 {offset = 4640256 : i64, size = 2048 : i64}
  %85 = tfrt_cuda.mem.slice %arg0 {offset = 0 : i64, size = 1605632 : i64}
  %86 = tfrt_cuda.op.run %arg2, %82, %81, %83, %84, %73, %85 {memory = "result 0", op_attrs = [["activation", "Relu"], ["data_format", "NHWC"], ["dilations", [1, 1, 1, 1]], ["explicit_paddings", [0, 0, 0, 0, 0, 0, 0, 0]], ["filter_format", "OHWI"], ["padding", "EXPLICIT"], ["strides", [1, 1, 1, 1]]], op_name = "tfrt.FusedConv2D", types = "(1x28x28x128xf32, 512x1x1x128xf32, 512xf32, 1x28x28x512xf32) -> (1x28x28x512xf32)"} : (!tfrt_cuda.op_queue, !tfrt.chain, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer) -> !tfrt.chain loc("layer2.2.conv3")
  %87 = tfrt_cuda.mem.slice %arg1 {offset = 4642304 : i64, size = 262144 : i64}
  %88 = tfrt_cuda.mem.slice %arg1 {offset = 4904448 : i64, size = 512 : i64}
  %89 = tfrt_cuda.mem.slice %arg0 {offset = 1605632 : i64, size = 401408 : i64}
  %90 = tfrt_cuda.op.run %arg2, %86, %85, %87, %88, %89 {memory = "result 0", op_attrs = [["activation", "Relu"], ["data_format", "NHWC"], ["dilations", [1, 1, 1, 1]], ["explicit_paddings", [0, 0, 0, 0, 0, 0, 0, 0]], ["filter_format", "OHWI"], ["padding", "EXPLICIT"], ["strides", [1, 1, 1, 1]]], op_name = "tfrt.FusedConv2D", types = "(1x28x28x512xf32, 128x1x1x512xf32, 128xf32) -> (1x28x28x128xf32)"} : (!tfrt_cuda.op_queue, !tfrt.chain, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer) -> !tfrt.chain loc("layer2.3.conv1")
  %91 = tfrt_cuda.mem.slice %arg1 {offset = 4904960 : i64, size = 589824 : i64}
  %92 = tfrt_cuda.mem.slice %arg1 {offset = 5494784 : i64, size = 512 : i64}
  %93 = tfrt_cuda.mem.slice %arg0 {offset = 3211264 : i64, size = 401408 : i64}
  %94 = tfrt_cuda.op.run %arg2, %90, %89, %91, %92, %93 {memory = "result 0", op_attrs = [["activation", "Relu"], ["data_format", "NHWC"], ["dilations", [1, 1, 1, 1]], ["explicit_paddings", [0, 0, 1, 1, 1, 1, 0, 0]], ["filter_format", "OHWI"], ["padding", "EXPLICIT"], ["strides", [1, 1, 1, 1]]], op_name = "tfrt.FusedConv2D", types = "(1x28x28x128xf32, 128x3x3x128xf32, 128xf32) -> (1x28x28x128xf32)"} : (!tfrt_cuda.op_queue, !tfrt.chain, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer) -> !tfrt.chain loc("layer2.3.conv2")
  %95 = tfrt_cuda.mem.slice %arg1 {offset = 5495296 : i64, size = 262144 : i64}
  %96 = tfrt_cuda.mem.slice %arg1 {offset = 5757440 : i64, size = 2048 : i64}
  %97 = tfrt_cuda.mem.slice %arg0 {offset = 1605632 : i64, size = 1605632 : i64}
  %98 = tfrt_cuda.op.run %arg2, %94, %93, %95, %96, %85, %97 {memory = "result 0", op_attrs = [["activation", "Relu"], ["data_format", "NHWC"], ["dilations", [1, 1, 1, 1]], ["explicit_paddings", [0, 0, 0, 0, 0, 0, 0, 0]], ["filter_format", "OHWI"], ["padding", "EXPLICIT"], ["strides", [1, 1, 1, 1]]], op_name = "tfrt.FusedConv2D", types = "(1x28x28x128xf32, 512x1x1x128xf32, 512xf32, 1x28x28x512xf32) -> (1x28x28x512xf32)"} : (!tfrt_cuda.op_queue, !tfrt.chain, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer) -> !tfrt.chain loc("layer2.3.conv3")
  %99 = tfrt_cuda.mem.slice %arg1 {offset = 5759488 : i64, size = 2097152 : i64}
  %100 = tfrt_cuda.mem.slice %arg1 {offset = 7856640 : i64, size = 4096 : i64}
  %101 = tfrt_cuda.mem.slice %arg0 {offset = 802816 : i64, size = 802816 : i64}
  %102 = tfrt_cuda.op.run %arg2, %98, %97, %99, %100, %101 {memory = "result 0", op_attrs = [["activation", ""], ["data_format", "NHWC"], ["dilations", [1, 1, 1, 1]], ["explicit_paddings", [0, 0, 0, 0, 0, 0, 0, 0]], ["filter_format", "OHWI"], ["padding", "EXPLICIT"], ["strides", [1, 2, 2, 1]]], op_name = "tfrt.FusedConv2D", types = "(1x28x28x512xf32, 1024x1x1x512xf32, 1024xf32) -> (1x14x14x1024xf32)"} : (!tfrt_cuda.op_queue, !tfrt.chain, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer) -> !tfrt.chain loc("layer3.0.downsample.0")
  %103 = tfrt_cuda.mem.slice %arg1 {offset = 7860736 : i64, size = 524288 : i64}
  %104 = tfrt_cuda.mem.slice %arg1 {offset = 8385024 : i64, size = 1024 : i64}
  %105 = tfrt_cuda.mem.slice %arg0 {offset = 0 : i64, size = 802816 : i64}
  %106 = tfrt_cuda.op.run %arg2, %102, %97, %103, %104, %105 {memory = "result 0", op_attrs = [["activation", "Relu"], ["data_format", "NHWC"], ["dilations", [1, 1, 1, 1]], ["explicit_paddings", [0, 0, 0, 0, 0, 0, 0, 0]], ["filter_format", "OHWI"], ["padding", "EXPLICIT"], ["strides", [1, 1, 1, 1]]], op_name = "tfrt.FusedConv2D", types = "(1x28x28x512xf32, 256x1x1x512xf32, 256xf32) -> (1x28x28x256xf32)"} : (!tfrt_cuda.op_queue, !tfrt.chain, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer) -> !tfrt.chain loc("layer3.0.conv1")
  %107 = tfrt_cuda.mem.slice %arg1 {offset = 8386048 : i64, size = 2359296 : i64}
  %108 = tfrt_cuda.mem.slice %arg1 {offset = 10745344 : i64, size = 1024 : i64}
  %109 = tfrt_cuda.mem.slice %arg0 {offset = 1605632 : i64, size = 200704 : i64}
  %110 = tfrt_cuda.op.run %arg2, %106, %105, %107, %108, %109 {memory = "result 0", op_attrs = [["activation", "Relu"], ["data_format", "NHWC"], ["dilations", [1, 1, 1, 1]], ["explicit_paddings", [0, 0, 1, 1, 1, 1, 0, 0]], ["filter_format", "OHWI"], ["padding", "EXPLICIT"], ["strides", [1, 2, 2, 1]]], op_name = "tfrt.FusedConv2D", types = "(1x28x28x256xf32, 256x3x3x256xf32, 256xf32) -> (1x14x14x256xf32)"} : (!tfrt_cuda.op_queue, !tfrt.chain, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer) -> !tfrt.chain loc("layer3.0.conv2")
  %111 = tfrt_cuda.mem.slice %arg1 {offset = 10746368 : i64, size = 1048576 : i64}
  %112 = tfrt_cuda.mem.slice %arg1 {offset = 11794944 : i64, size = 4096 : i64}
  %113 = tfrt_cuda.mem.slice %arg0 {offset = 0 : i64, size = 802816 : i64}
  %114 = tfrt_cuda.op.run %arg2, %110, %109, %111, %112, %101, %113 {memory = "result 0", op_attrs = [["activation", "Relu"], ["data_format", "NHWC"], ["dilations", [1, 1, 1, 1]], ["explicit_paddings", [0, 0, 0, 0, 0, 0, 0, 0]], ["filter_format", "OHWI"], ["padding", "EXPLICIT"], ["strides", [1, 1, 1, 1]]], op_name = "tfrt.FusedConv2D", types = "(1x14x14x256xf32, 1024x1x1x256xf32, 1024xf32, 1x14x14x1024xf32) -> (1x14x14x1024xf32)"} : (!tfrt_cuda.op_queue, !tfrt.chain, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer) -> !tfrt.chain loc("layer3.0.conv3")
  %115 = tfrt_cuda.mem.slice %arg1 {offset = 11799040 : i64, size = 1048576 : i64}
  %116 = tfrt_cuda.mem.slice %arg1 {offset = 12847616 : i64, size = 1024 : i64}
  %117 = tfrt_cuda.mem.slice %arg0 {offset = 802816 : i64, size = 200704 : i64}
  %118 = tfrt_cuda.op.run %arg2, %114, %113, %115, %116, %117 {memory = "result 0", op_attrs = [["activation", "Relu"], ["data_format", "NHWC"], ["dilations", [1, 1, 1, 1]], ["explicit_paddings", [0, 0, 0, 0, 0, 0, 0, 0]], ["filter_format", "OHWI"], ["padding", "EXPLICIT"], ["strides", [1, 1, 1, 1]]], op_name = "tfrt.FusedConv2D", types = "(1x14x14x1024xf32, 256x1x1x1024xf32, 256xf32) -> (1x14x14x256xf32)"} : (!tfrt_cuda.op_queue, !tfrt.chain, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer) -> !tfrt.chain loc("layer3.1.conv1")
  %119 = tfrt_cuda.mem.slice %arg1 {offset = 12848640 : i64, size = 2359296 : i64}
  %120 = tfrt_cuda.mem.slice %arg1 {offset = 15207936 : i64, size = 1024 : i64}
  %121 = tfrt_cuda.mem.slice %arg0 {offset = 1605632 : i64, size = 200704 : i64}
  %122 = tfrt_cuda.op.run %arg2, %118, %117, %119, %120, %121 {memory = "result 0", op_attrs = [["activation", "Relu"], ["data_format", "NHWC"], ["dilations", [1, 1, 1, 1]], ["explicit_paddings", [0, 0, 1, 1, 1, 1, 0, 0]], ["filter_format", "OHWI"], ["padding", "EXPLICIT"], ["strides", [1, 1, 1, 1]]], op_name = "tfrt.FusedConv2D", types = "(1x14x14x256xf32, 256x3x3x256xf32, 256xf32) -> (1x14x14x256xf32)"} : (!tfrt_cuda.op_queue, !tfrt.chain, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer) -> !tfrt.chain loc("layer3.1.conv2")
  %123 = tfrt_cuda.mem.slice %arg1 {offset = 15208960 : i64, size = 1048576 : i64}
  %124 = tfrt_cuda.mem.slice %arg1 {offset = 16257536 : i64, size = 4096 : i64}
  %125 = tfrt_cuda.mem.slice %arg0 {offset = 802816 : i64, size = 802816 : i64}
  %126 = tfrt_cuda.op.run %arg2, %122, %121, %123, %124, %113, %125 {memory = "result 0", op_attrs = [["activation", "Relu"], ["data_format", "NHWC"], ["dilations", [1, 1, 1, 1]], ["explicit_paddings", [0, 0, 0, 0, 0, 0, 0, 0]], ["filter_format", "OHWI"], ["padding", "EXPLICIT"], ["strides", [1, 1, 1, 1]]], op_name = "tfrt.FusedConv2D", types = "(1x14x14x256xf32, 1024x1x1x256xf32, 1024xf32, 1x14x14x1024xf32) -> (1x14x14x1024xf32)"} : (!tfrt_cuda.op_queue, !tfrt.chain, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer) -> !tfrt.chain loc("layer3.1.conv3")
  %127 = tfrt_cuda.mem.slice %arg1 {offset = 16261632 : i64, size = 1048576 : i64}
  %128 = tfrt_cuda.mem.slice %arg1 {offset = 17310208 : i64, size = 1024 : i64}
  %129 = tfrt_cuda.mem.slice %arg0 {offset = 0 : i64, size = 200704 : i64}
  %130 = tfrt_cuda.op.run %arg2, %126, %125, %127, %128, %129 {memory = "result 0", op_attrs = [["activation", "Relu"], ["data_format", "NHWC"], ["dilations", [1, 1, 1, 1]], ["explicit_paddings", [0, 0, 0, 0, 0, 0, 0, 0]], ["filter_format", "OHWI"], ["padding", "EXPLICIT"], ["strides", [1, 1, 1, 1]]], op_name = "tfrt.FusedConv2D", types = "(1x14x14x1024xf32, 256x1x1x1024xf32, 256xf32) -> (1x14x14x256xf32)"} : (!tfrt_cuda.op_queue, !tfrt.chain, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer) -> !tfrt.chain loc("layer3.2.conv1")
  %131 = tfrt_cuda.mem.slice %arg1 {offset = 17311232 : i64, size = 2359296 : i64}
  %132 = tfrt_cuda.mem.slice %arg1 {offset = 19670528 : i64, size = 1024 : i64}
  %133 = tfrt_cuda.mem.slice %arg0 {offset = 1605632 : i64, size = 200704 : i64}
  %134 = tfrt_cuda.op.run %arg2, %130, %129, %131, %132, %133 {memory = "result 0", op_attrs = [["activation", "Relu"], ["data_format", "NHWC"], ["dilations", [1, 1, 1, 1]], ["explicit_paddings", [0, 0, 1, 1, 1, 1, 0, 0]], ["filter_format", "OHWI"], ["padding", "EXPLICIT"], ["strides", [1, 1, 1, 1]]], op_name = "tfrt.FusedConv2D", types = "(1x14x14x256xf32, 256x3x3x256xf32, 256xf32) -> (1x14x14x256xf32)"} : (!tfrt_cuda.op_queue, !tfrt.chain, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer) -> !tfrt.chain loc("layer3.2.conv2")
  %135 = tfrt_cuda.mem.slice %arg1 {offset = 19671552 : i64, size = 1048576 : i64}
  %136 = tfrt_cuda.mem.slice %arg1 {offset = 20720128 : i64, size = 4096 : i64}
  %137 = tfrt_cuda.mem.slice %arg0 {offset = 0 : i64, size = 802816 : i64}
  %138 = tfrt_cuda.op.run %arg2, %134, %133, %135, %136, %125, %137 {memory = "result 0", op_attrs = [["activation", "Relu"], ["data_format", "NHWC"], ["dilations", [1, 1, 1, 1]], ["explicit_paddings", [0, 0, 0, 0, 0, 0, 0, 0]], ["filter_format", "OHWI"], ["padding", "EXPLICIT"], ["strides", [1, 1, 1, 1]]], op_name = "tfrt.FusedConv2D", types = "(1x14x14x256xf32, 1024x1x1x256xf32, 1024xf32, 1x14x14x1024xf32) -> (1x14x14x1024xf32)"} : (!tfrt_cuda.op_queue, !tfrt.chain, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer) -> !tfrt.chain loc("layer3.2.conv3")
  %139 = tfrt_cuda.mem.slice %arg1 {offset = 20724224 : i64, size = 1048576 : i64}
  %140 = tfrt_cuda.mem.slice %arg1 {offset = 21772800 : i64, size = 1024 : i64}
  %141 = tfrt_cuda.mem.slice %arg0 {offset = 802816 : i64, size = 200704 : i64}
  %142 = tfrt_cuda.op.run %arg2, %138, %137, %139, %140, %141 {memory = "result 0", op_attrs = [["activation", "Relu"], ["data_format", "NHWC"], ["dilations", [1, 1, 1, 1]], ["explicit_paddings", [0, 0, 0, 0, 0, 0, 0, 0]], ["filter_format", "OHWI"], ["padding", "EXPLICIT"], ["strides", [1, 1, 1, 1]]], op_name = "tfrt.FusedConv2D", types = "(1x14x14x1024xf32, 256x1x1x1024xf32, 256xf32) -> (1x14x14x256xf32)"} : (!tfrt_cuda.op_queue, !tfrt.chain, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer) -> !tfrt.chain loc("layer3.3.conv1")
  %143 = tfrt_cuda.mem.slice %arg1 {offset = 21773824 : i64, size = 2359296 : i64}
  %144 = tfrt_cuda.mem.slice %arg1 {offset = 24133120 : i64, size = 1024 : i64}
  %145 = tfrt_cuda.mem.slice %arg0 {offset = 1605632 : i64, size = 200704 : i64}
  %146 = tfrt_cuda.op.run %arg2, %142, %141, %143, %144, %145 {memory = "result 0", op_attrs = [["activation", "Relu"], ["data_format", "NHWC"], ["dilations", [1, 1, 1, 1]], ["explicit_paddings", [0, 0, 1, 1, 1, 1, 0, 0]], ["filter_format", "OHWI"], ["padding", "EXPLICIT"], ["strides", [1, 1, 1, 1]]], op_name = "tfrt.FusedConv2D", types = "(1x14x14x256xf32, 256x3x3x256xf32, 256xf32) -> (1x14x14x256xf32)"} : (!tfrt_cuda.op_queue, !tfrt.chain, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer) -> !tfrt.chain loc("layer3.3.conv2")
  %147 = tfrt_cuda.mem.slice %arg1 {offset = 24134144 : i64, size = 1048576 : i64}
  %148 = tfrt_cuda.mem.slice %arg1 {offset = 25182720 : i64, size = 4096 : i64}
  %149 = tfrt_cuda.mem.slice %arg0 {offset = 802816 : i64, size = 802816 : i64}
  %150 = tfrt_cuda.op.run %arg2, %146, %145, %147, %148, %137, %149 {memory = "result 0", op_attrs = [["activation", "Relu"], ["data_format", "NHWC"], ["dilations", [1, 1, 1, 1]], ["explicit_paddings", [0, 0, 0, 0, 0, 0, 0, 0]], ["filter_format", "OHWI"], ["padding", "EXPLICIT"], ["strides", [1, 1, 1, 1]]], op_name = "tfrt.FusedConv2D", types = "(1x14x14x256xf32, 1024x1x1x256xf32, 1024xf32, 1x14x14x1024xf32) -> (1x14x14x1024xf32)"} : (!tfrt_cuda.op_queue, !tfrt.chain, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer) -> !tfrt.chain loc("layer3.3.conv3")
  %151 = tfrt_cuda.mem.slice %arg1 {offset = 25186816 : i64, size = 1048576 : i64}
  %152 = tfrt_cuda.mem.slice %arg1 {offset = 26235392 : i64, size = 1024 : i64}
  %153 = tfrt_cuda.mem.slice %arg0 {offset = 0 : i64, size = 200704 : i64}
  %154 = tfrt_cuda.op.run %arg2, %150, %149, %151, %152, %153 {memory = "result 0", op_attrs = [["activation", "Relu"], ["data_format", "NHWC"], ["dilations", [1, 1, 1, 1]], ["explicit_paddings", [0, 0, 0, 0, 0, 0, 0, 0]], ["filter_format", "OHWI"], ["padding", "EXPLICIT"], ["strides", [1, 1, 1, 1]]], op_name = "tfrt.FusedConv2D", types = "(1x14x14x1024xf32, 256x1x1x1024xf32, 256xf32) -> (1x14x14x256xf32)"} : (!tfrt_cuda.op_queue, !tfrt.chain, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer) -> !tfrt.chain loc("layer3.4.conv1")
  %155 = tfrt_cuda.mem.slice %arg1 {offset = 26236416 : i64, size = 2359296 : i64}
  %156 = tfrt_cuda.mem.slice %arg1 {offset = 28595712 : i64, size = 1024 : i64}
  %157 = tfrt_cuda.mem.slice %arg0 {offset = 1605632 : i64, size = 200704 : i64}
  %158 = tfrt_cuda.op.run %arg2, %154, %153, %155, %156, %157 {memory = "result 0", op_attrs = [["activation", "Relu"], ["data_format", "NHWC"], ["dilations", [1, 1, 1, 1]], ["explicit_paddings", [0, 0, 1, 1, 1, 1, 0, 0]], ["filter_format", "OHWI"], ["padding", "EXPLICIT"], ["strides", [1, 1, 1, 1]]], op_name = "tfrt.FusedConv2D", types = "(1x14x14x256xf32, 256x3x3x256xf32, 256xf32) -> (1x14x14x256xf32)"} : (!tfrt_cuda.op_queue, !tfrt.chain, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer) -> !tfrt.chain loc("layer3.4.conv2")
  %159 = tfrt_cuda.mem.slice %arg1 {offset = 28596736 : i64, size = 1048576 : i64}
  %160 = tfrt_cuda.mem.slice %arg1 {offset = 29645312 : i64, size = 4096 : i64}
  %161 = tfrt_cuda.mem.slice %arg0 {offset = 0 : i64, size = 802816 : i64}
  %162 = tfrt_cuda.op.run %arg2, %158, %157, %159, %160, %149, %161 {memory = "result 0", op_attrs = [["activation", "Relu"], ["data_format", "NHWC"], ["dilations", [1, 1, 1, 1]], ["explicit_paddings", [0, 0, 0, 0, 0, 0, 0, 0]], ["filter_format", "OHWI"], ["padding", "EXPLICIT"], ["strides", [1, 1, 1, 1]]], op_name = "tfrt.FusedConv2D", types = "(1x14x14x256xf32, 1024x1x1x256xf32, 1024xf32, 1x14x14x1024xf32) -> (1x14x14x1024xf32)"} : (!tfrt_cuda.op_queue, !tfrt.chain, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer) -> !tfrt.chain loc("layer3.4.conv3")
  %163 = tfrt_cuda.mem.slice %arg1 {offset = 29649408 : i64, size = 1048576 : i64}
  %164 = tfrt_cuda.mem.slice %arg1 {offset = 30697984 : i64, size = 1024 : i64}
  %165 = tfrt_cuda.mem.slice %arg0 {offset = 802816 : i64, size = 200704 : i64}
  %166 = tfrt_cuda.op.run %arg2, %162, %161, %163, %164, %165 {memory = "result 0", op_attrs = [["activation", "Relu"], ["data_format", "NHWC"], ["dilations", [1, 1, 1, 1]], ["explicit_paddings", [0, 0, 0, 0, 0, 0, 0, 0]], ["filter_format", "OHWI"], ["padding", "EXPLICIT"], ["strides", [1, 1, 1, 1]]], op_name = "tfrt.FusedConv2D", types = "(1x14x14x1024xf32, 256x1x1x1024xf32, 256xf32) -> (1x14x14x256xf32)"} : (!tfrt_cuda.op_queue, !tfrt.chain, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer) -> !tfrt.chain loc("layer3.5.conv1")
  %167 = tfrt_cuda.mem.slice %arg1 {offset = 30699008 : i64, size = 2359296 : i64}
  %168 = tfrt_cuda.mem.slice %arg1 {offset = 33058304 : i64, size = 1024 : i64}
  %169 = tfrt_cuda.mem.slice %arg0 {offset = 1605632 : i64, size = 200704 : i64}
  %170 = tfrt_cuda.op.run %arg2, %166, %165, %167, %168, %169 {memory = "result 0", op_attrs = [["activation", "Relu"], ["data_format", "NHWC"], ["dilations", [1, 1, 1, 1]], ["explicit_paddings", [0, 0, 1, 1, 1, 1, 0, 0]], ["filter_format", "OHWI"], ["padding", "EXPLICIT"], ["strides", [1, 1, 1, 1]]], op_name = "tfrt.FusedConv2D", types = "(1x14x14x256xf32, 256x3x3x256xf32, 256xf32) -> (1x14x14x256xf32)"} : (!tfrt_cuda.op_queue, !tfrt.chain, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer) -> !tfrt.chain loc("layer3.5.conv2")
  %171 = tfrt_cuda.mem.slice %arg1 {offset = 33059328 : i64, size = 1048576 : i64}
  %172 = tfrt_cuda.mem.slice %arg1 {offset = 34107904 : i64, size = 4096 : i64}
  %173 = tfrt_cuda.mem.slice %arg0 {offset = 802816 : i64, size = 802816 : i64}
  %174 = tfrt_cuda.op.run %arg2, %170, %169, %171, %172, %161, %173 {memory = "result 0", op_attrs = [["activation", "Relu"], ["data_format", "NHWC"], ["dilations", [1, 1, 1, 1]], ["explicit_paddings", [0, 0, 0, 0, 0, 0, 0, 0]], ["filter_format", "OHWI"], ["padding", "EXPLICIT"], ["strides", [1, 1, 1, 1]]], op_name = "tfrt.FusedConv2D", types = "(1x14x14x256xf32, 1024x1x1x256xf32, 1024xf32, 1x14x14x1024xf32) -> (1x14x14x1024xf32)"} : (!tfrt_cuda.op_queue, !tfrt.chain, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer) -> !tfrt.chain loc("layer3.5.conv3")
  %175 = tfrt_cuda.mem.slice %arg1 {offset = 34112000 : i64, size = 8388608 : i64}
  %176 = tfrt_cuda.mem.slice %arg1 {offset = 42500608 : i64, size = 8192 : i64}
  %177 = tfrt_cuda.mem.slice %arg0 {offset = 401408 : i64, size = 401408 : i64}
  %178 = tfrt_cuda.op.run %arg2, %174, %173, %175, %176, %177 {memory = "result 0", op_attrs = [["activation", ""], ["data_format", "NHWC"], ["dilations", [1, 1, 1, 1]], ["explicit_paddings", [0, 0, 0, 0, 0, 0, 0, 0]], ["filter_format", "OHWI"], ["padding", "EXPLICIT"], ["strides", [1, 2, 2, 1]]], op_name = "tfrt.FusedConv2D", types = "(1x14x14x1024xf32, 2048x1x1x1024xf32, 2048xf32) -> (1x7x7x2048xf32)"} : (!tfrt_cuda.op_queue, !tfrt.chain, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer) -> !tfrt.chain loc("layer4.0.downsample.0")
  %179 = tfrt_cuda.mem.slice %arg1 {offset = 42508800 : i64, size = 2097152 : i64}
  %180 = tfrt_cuda.mem.slice %arg1 {offset = 44605952 : i64, size = 2048 : i64}
  %181 = tfrt_cuda.mem.slice %arg0 {offset = 0 : i64, size = 401408 : i64}
  %182 = tfrt_cuda.op.run %arg2, %178, %173, %179, %180, %181 {memory = "result 0", op_attrs = [["activation", "Relu"], ["data_format", "NHWC"], ["dilations", [1, 1, 1, 1]], ["explicit_paddings", [0, 0, 0, 0, 0, 0, 0, 0]], ["filter_format", "OHWI"], ["padding", "EXPLICIT"], ["strides", [1, 1, 1, 1]]], op_name = "tfrt.FusedConv2D", types = "(1x14x14x1024xf32, 512x1x1x1024xf32, 512xf32) -> (1x14x14x512xf32)"} : (!tfrt_cuda.op_queue, !tfrt.chain, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer) -> !tfrt.chain loc("layer4.0.conv1")
  %183 = tfrt_cuda.mem.slice %arg1 {offset = 44608000 : i64, size = 9437184 : i64}
  %184 = tfrt_cuda.mem.slice %arg1 {offset = 54045184 : i64, size = 2048 : i64}
  %185 = tfrt_cuda.mem.slice %arg0 {offset = 802816 : i64, size = 100352 : i64}
  %186 = tfrt_cuda.op.run %arg2, %182, %181, %183, %184, %185 {memory = "result 0", op_attrs = [["activation", "Relu"], ["data_format", "NHWC"], ["dilations", [1, 1, 1, 1]], ["explicit_paddings", [0, 0, 1, 1, 1, 1, 0, 0]], ["filter_format", "OHWI"], ["padding", "EXPLICIT"], ["strides", [1, 2, 2, 1]]], op_name = "tfrt.FusedConv2D", types = "(1x14x14x512xf32, 512x3x3x512xf32, 512xf32) -> (1x7x7x512xf32)"} : (!tfrt_cuda.op_queue, !tfrt.chain, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer) -> !tfrt.chain loc("layer4.0.conv2")
  %187 = tfrt_cuda.mem.slice %arg1 {offset = 54047232 : i64, size = 4194304 : i64}
  %188 = tfrt_cuda.mem.slice %arg1 {offset = 58241536 : i64, size = 8192 : i64}
  %189 = tfrt_cuda.mem.slice %arg0 {offset = 0 : i64, size = 401408 : i64}
  %190 = tfrt_cuda.op.run %arg2, %186, %185, %187, %188, %177, %189 {memory = "result 0", op_attrs = [["activation", "Relu"], ["data_format", "NHWC"], ["dilations", [1, 1, 1, 1]], ["explicit_paddings", [0, 0, 0, 0, 0, 0, 0, 0]], ["filter_format", "OHWI"], ["padding", "EXPLICIT"], ["strides", [1, 1, 1, 1]]], op_name = "tfrt.FusedConv2D", types = "(1x7x7x512xf32, 2048x1x1x512xf32, 2048xf32, 1x7x7x2048xf32) -> (1x7x7x2048xf32)"} : (!tfrt_cuda.op_queue, !tfrt.chain, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer) -> !tfrt.chain loc("layer4.0.conv3")
  %191 = tfrt_cuda.mem.slice %arg1 {offset = 58249728 : i64, size = 4194304 : i64}
  %192 = tfrt_cuda.mem.slice %arg1 {offset = 62444032 : i64, size = 2048 : i64}
  %193 = tfrt_cuda.mem.slice %arg0 {offset = 401408 : i64, size = 100352 : i64}
  %194 = tfrt_cuda.op.run %arg2, %190, %189, %191, %192, %193 {memory = "result 0", op_attrs = [["activation", "Relu"], ["data_format", "NHWC"], ["dilations", [1, 1, 1, 1]], ["explicit_paddings", [0, 0, 0, 0, 0, 0, 0, 0]], ["filter_format", "OHWI"], ["padding", "EXPLICIT"], ["strides", [1, 1, 1, 1]]], op_name = "tfrt.FusedConv2D", types = "(1x7x7x2048xf32, 512x1x1x2048xf32, 512xf32) -> (1x7x7x512xf32)"} : (!tfrt_cuda.op_queue, !tfrt.chain, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer) -> !tfrt.chain loc("layer4.1.conv1")
  %195 = tfrt_cuda.mem.slice %arg1 {offset = 62446080 : i64, size = 9437184 : i64}
  %196 = tfrt_cuda.mem.slice %arg1 {offset = 71883264 : i64, size = 2048 : i64}
  %197 = tfrt_cuda.mem.slice %arg0 {offset = 802816 : i64, size = 100352 : i64}
  %198 = tfrt_cuda.op.run %arg2, %194, %193, %195, %196, %197 {memory = "result 0", op_attrs = [["activation", "Relu"], ["data_format", "NHWC"], ["dilations", [1, 1, 1, 1]], ["explicit_paddings", [0, 0, 1, 1, 1, 1, 0, 0]], ["filter_format", "OHWI"], ["padding", "EXPLICIT"], ["strides", [1, 1, 1, 1]]], op_name = "tfrt.FusedConv2D", types = "(1x7x7x512xf32, 512x3x3x512xf32, 512xf32) -> (1x7x7x512xf32)"} : (!tfrt_cuda.op_queue, !tfrt.chain, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer) -> !tfrt.chain loc("layer4.1.conv2")
  %199 = tfrt_cuda.mem.slice %arg1 {offset = 71885312 : i64, size = 4194304 : i64}
  %200 = tfrt_cuda.mem.slice %arg1 {offset = 76079616 : i64, size = 8192 : i64}
  %201 = tfrt_cuda.mem.slice %arg0 {offset = 401408 : i64, size = 401408 : i64}
  %202 = tfrt_cuda.op.run %arg2, %198, %197, %199, %200, %189, %201 {memory = "result 0", op_attrs = [["activation", "Relu"], ["data_format", "NHWC"], ["dilations", [1, 1, 1, 1]], ["explicit_paddings", [0, 0, 0, 0, 0, 0, 0, 0]], ["filter_format", "OHWI"], ["padding", "EXPLICIT"], ["strides", [1, 1, 1, 1]]], op_name = "tfrt.FusedConv2D", types = "(1x7x7x512xf32, 2048x1x1x512xf32, 2048xf32, 1x7x7x2048xf32) -> (1x7x7x2048xf32)"} : (!tfrt_cuda.op_queue, !tfrt.chain, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer) -> !tfrt.chain loc("layer4.1.conv3")
  %203 = tfrt_cuda.mem.slice %arg1 {offset = 76087808 : i64, size = 4194304 : i64}
  %204 = tfrt_cuda.mem.slice %arg1 {offset = 80282112 : i64, size = 2048 : i64}
  %205 = tfrt_cuda.mem.slice %arg0 {offset = 0 : i64, size = 100352 : i64}
  %206 = tfrt_cuda.op.run %arg2, %202, %201, %203, %204, %205 {memory = "result 0", op_attrs = [["activation", "Relu"], ["data_format", "NHWC"], ["dilations", [1, 1, 1, 1]], ["explicit_paddings", [0, 0, 0, 0, 0, 0, 0, 0]], ["filter_format", "OHWI"], ["padding", "EXPLICIT"], ["strides", [1, 1, 1, 1]]], op_name = "tfrt.FusedConv2D", types = "(1x7x7x2048xf32, 512x1x1x2048xf32, 512xf32) -> (1x7x7x512xf32)"} : (!tfrt_cuda.op_queue, !tfrt.chain, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer) -> !tfrt.chain loc("layer4.2.conv1")
  %207 = tfrt_cuda.mem.slice %arg1 {offset = 80284160 : i64, size = 9437184 : i64}
  %208 = tfrt_cuda.mem.slice %arg1 {offset = 89721344 : i64, size = 2048 : i64}
  %209 = tfrt_cuda.mem.slice %arg0 {offset = 802816 : i64, size = 100352 : i64}
  %210 = tfrt_cuda.op.run %arg2, %206, %205, %207, %208, %209 {memory = "result 0", op_attrs = [["activation", "Relu"], ["data_format", "NHWC"], ["dilations", [1, 1, 1, 1]], ["explicit_paddings", [0, 0, 1, 1, 1, 1, 0, 0]], ["filter_format", "OHWI"], ["padding", "EXPLICIT"], ["strides", [1, 1, 1, 1]]], op_name = "tfrt.FusedConv2D", types = "(1x7x7x512xf32, 512x3x3x512xf32, 512xf32) -> (1x7x7x512xf32)"} : (!tfrt_cuda.op_queue, !tfrt.chain, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer) -> !tfrt.chain loc("layer4.2.conv2")
  %211 = tfrt_cuda.mem.slice %arg1 {offset = 89723392 : i64, size = 4194304 : i64}
  %212 = tfrt_cuda.mem.slice %arg1 {offset = 93917696 : i64, size = 8192 : i64}
  %213 = tfrt_cuda.mem.slice %arg0 {offset = 0 : i64, size = 401408 : i64}
  %214 = tfrt_cuda.op.run %arg2, %210, %209, %211, %212, %201, %213 {memory = "result 0", op_attrs = [["activation", "Relu"], ["data_format", "NHWC"], ["dilations", [1, 1, 1, 1]], ["explicit_paddings", [0, 0, 0, 0, 0, 0, 0, 0]], ["filter_format", "OHWI"], ["padding", "EXPLICIT"], ["strides", [1, 1, 1, 1]]], op_name = "tfrt.FusedConv2D", types = "(1x7x7x512xf32, 2048x1x1x512xf32, 2048xf32, 1x7x7x2048xf32) -> (1x7x7x2048xf32)"} : (!tfrt_cuda.op_queue, !tfrt.chain, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer) -> !tfrt.chain loc("layer4.2.conv3")
  %215 = corert.const_dense_tensor dense<[1, 2]> : tensor<2xi32>
  %216 = corert.tensorhandle_to_ht %215 : (!corert.tensorhandle) -> !t.tensor
  %217 = tfrt_cuda.mem.slice %arg0 {offset = 401408 : i64, size = 8192 : i64}
  %218 = tfrt_cuda.op.run %arg2, %214, %213, %216, %217 {memory = "result 0", op_attrs = [["keep_dims", false]], op_name = "tf.Mean", types = "(1x7x7x2048xf32, 2xi32) -> (1x2048xf32)"} : (!tfrt_cuda.op_queue, !tfrt.chain, !tfrt_cuda.buffer, !t.tensor, !tfrt_cuda.buffer) -> !tfrt.chain loc("mean")
  %219 = tfrt_cuda.mem.slice %arg1 {offset = 93925888 : i64, size = 8192000 : i64}
  %220 = tfrt_cuda.mem.slice %arg1 {offset = 102117888 : i64, size = 4000 : i64}
  %221 = tfrt_cuda.mem.slice %arg0 {offset = 7827456 : i64, size = 4000 : i64}
  %222 = tfrt_cuda.op.run %arg2, %218, %217, %219, %220, %221 {memory = "result 0", op_attrs = [["fused_ops", ["BiasAdd"]], ["transpose_a", false], ["transpose_b", false]], op_name = "tf._FusedMatMul", types = "(1x2048xf32, 2048x1000xf32, 1000xf32) -> (1x1000xf32)"} : (!tfrt_cuda.op_queue, !tfrt.chain, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer) -> !tfrt.chain loc("fc")
  tfrt.return %222 : !tfrt.chain
}

// From host memory to host memory.
func @infer(%arg0: !tfrt_cuda.turns, %arg1: !tfrt_cuda.stream, %arg2: !tfrt_cuda.buffer, %arg3: !tfrt_cuda.buffer, %arg4: !tfrt_cuda.graph, %arg5: !t.tensor) -> !t.tensor {
  %0 = tfrt.new.chain
  %1:2 = tfrt_cuda.turn.take %arg0, %0
  %2 = tfrt_cuda.mem.slice %arg2 {offset = 7225344 : i64, size = 602112 : i64}
  %3 = tfrt_cuda.tensor.upload %2, %arg5, %arg1, %1#1 {name = "images", type = "1x224x224x3xf32"}
  %4 = tfrt_cuda.graph.launch %arg4, %arg1, %3
  %5 = tfrt_cuda.mem.slice %arg2 {offset = 7827456 : i64, size = 4000 : i64}
  %6:2 = tfrt_cuda.tensor.download %5, %arg1, %4 "1x1000xf32"
  %7 = tfrt_cuda.turn.give_back %1#0, %6#1
  tfrt.return %6#0 : !t.tensor
}

// Copies the inputs to the device.
func @upload(%arg0: !tfrt_cuda.turns, %arg1: !tfrt_cuda.stream, %arg2: !tfrt_cuda.buffer, %arg3: !tfrt_cuda.buffer, %arg4: !tfrt_cuda.graph, %arg5: !t.tensor, %arg6: !tfrt.chain) -> !tfrt.chain {
  %0:2 = tfrt_cuda.turn.take %arg0, %arg6
  %1 = tfrt_cuda.mem.slice %arg2 {offset = 7225344 : i64, size = 602112 : i64}
  %2 = tfrt_cuda.tensor.upload %1, %arg5, %arg1, %0#1 {name = "images", type = "1x224x224x3xf32"}
  %3 = tfrt_cuda.turn.give_back %0#0, %2
  tfrt.return %3 : !tfrt.chain
}

// Computes on the device.
func @launch(%arg0: !tfrt_cuda.turns, %arg1: !tfrt_cuda.stream, %arg2: !tfrt_cuda.buffer, %arg3: !tfrt_cuda.buffer, %arg4: !tfrt_cuda.graph, %arg5: !tfrt.chain) -> !tfrt.chain {
  %0:2 = tfrt_cuda.turn.take %arg0, %arg5
  %1 = tfrt_cuda.graph.launch %arg4, %arg1, %0#1
  %2 = tfrt_cuda.turn.give_back %0#0, %1
  tfrt.return %2 : !tfrt.chain
}

// Copies the outputs to the host.
func @download(%arg0: !tfrt_cuda.turns, %arg1: !tfrt_cuda.stream, %arg2: !tfrt_cuda.buffer, %arg3: !tfrt_cuda.buffer, %arg4: !tfrt_cuda.graph, %arg5: !tfrt.chain) -> (!t.tensor, !tfrt.chain) {
  %0:2 = tfrt_cuda.turn.take %arg0, %arg5
  %1 = tfrt_cuda.mem.slice %arg2 {offset = 7827456 : i64, size = 4000 : i64}
  %2:2 = tfrt_cuda.tensor.download %1, %arg1, %0#1 "1x1000xf32"
  %3 = tfrt_cuda.turn.give_back %0#0, %2#1
  tfrt.return %2#0, %3 : !t.tensor, !tfrt.chain
}
