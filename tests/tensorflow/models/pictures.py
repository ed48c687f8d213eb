"""Images: sizes, colours, windows, and files."""

from .support import *


@case
def image_sizes(folder):
    @tf.function
    def f(x):
        i = tf.image
        sizes = {method: i.resize(x, [7, 11], method) for method in ("bilinear", "nearest", "bicubic", "area", "lanczos3", "lanczos5", "gaussian", "mitchellcubic")}
        return sizes | {
            "smooth": i.resize(x, [3, 4], antialias=True), "cubic_smooth": i.resize(x, [4, 3], "bicubic", antialias=True), "pad": i.resize_with_pad(x, 9, 9), "crop": i.resize_with_crop_or_pad(x, 4, 9),
            "ratio": i.resize(x, [12, 12], preserve_aspect_ratio=True), "v1": v1.image.resize_bilinear(x, [5, 5], align_corners=True), "v1_bicubic": v1.image.resize_bicubic(x, [5, 5]), "v1_nearest": v1.image.resize_nearest_neighbor(x, [5, 9], align_corners=True),
            "bytes": i.resize(tf.cast(x * 100.0, tf.uint8), [5, 5]), "box": i.crop_to_bounding_box(x, 1, 2, 3, 3), "padded": i.pad_to_bounding_box(x, 1, 2, 10, 12), "central": i.central_crop(x, 0.5),
        }

    frozen_case(folder, f, {"x": numbers(2, 6, 8, 3, low=0.0)})


@case
def image_colours(folder):
    @tf.function
    def f(x):
        i = tf.image
        return {
            "brightness": i.adjust_brightness(x, 0.2), "contrast": i.adjust_contrast(x, 1.7), "gamma": i.adjust_gamma(x, 2.2), "hue": i.adjust_hue(x, 0.2), "saturation": i.adjust_saturation(x, 1.6), "hsv": i.rgb_to_hsv(x), "rgb": i.hsv_to_rgb(x),
            "gray": i.rgb_to_grayscale(x), "three": i.grayscale_to_rgb(i.rgb_to_grayscale(x)), "yuv": i.rgb_to_yuv(x), "yiq": i.rgb_to_yiq(x), "back": i.yuv_to_rgb(x), "standard": i.per_image_standardization(x), "bytes": i.convert_image_dtype(x, tf.uint8),
            "floats": i.convert_image_dtype(tf.cast(x * 255.0, tf.uint8), tf.float32), "contrast_bytes": i.adjust_contrast(tf.cast(x * 255.0, tf.uint8), 0.7), "saturation_bytes": i.adjust_saturation(tf.cast(x * 255.0, tf.uint8), 0.7),
        }

    frozen_case(folder, f, {"x": numbers(2, 5, 6, 3, low=0.0)})


@case
def image_windows(folder):
    @tf.function
    def f(x):
        i = tf.image
        dy, dx = i.image_gradients(x)
        return {
            "dy": dy, "dx": dx, "sobel": i.sobel_edges(x), "patches": i.extract_patches(x, [1, 3, 3, 1], [1, 2, 2, 1], [1, 1, 1, 1], "SAME"), "patches_valid": i.extract_patches(x, [1, 2, 3, 1], [1, 3, 2, 1], [1, 2, 1, 1], "VALID"),
            "flip": i.flip_left_right(x), "flop": i.flip_up_down(x), "turned": i.rot90(x), "transposed": i.transpose(x), "variation": i.total_variation(x), "psnr": i.psnr(x, x * 0.9, 1.0), "ssim": i.ssim(x, x * 0.9, 1.0, filter_size=5),
            "dilated": tf.nn.dilation2d(x, tf.ones([2, 2, 3]) * 0.1, [1, 1, 1, 1], "SAME", "NHWC", [1, 1, 1, 1]), "eroded": tf.nn.erosion2d(x, tf.ones([2, 2, 3]) * 0.1, [1, 1, 1, 1], "SAME", "NHWC", [1, 1, 1, 1]), "argmax": tf.nn.max_pool_with_argmax(x, 2, 2, "SAME")[1],
            "maximum": tf.nn.max_pool_with_argmax(x, 2, 2, "SAME")[0],
            "atrous": tf.nn.atrous_conv2d(x, tf.ones([3, 3, 3, 2]) * 0.1, 2, "SAME"), "projected": tf.raw_ops.ImageProjectiveTransformV3(images=x, transforms=[[1.0, 0.1, 0.5, -0.1, 1.0, 0.2, 0.0, 0.0]], output_shape=[6, 5], fill_value=0.3, interpolation="BILINEAR", fill_mode="CONSTANT"),
        }

    frozen_case(folder, f, {"x": numbers(2, 8, 9, 3, low=0.0)})


@case
def image_boxes(folder):
    @tf.function
    def f(boxes, scores):
        i = tf.image
        corners = tf.concat([boxes[:, :2], boxes[:, :2] + tf.abs(boxes[:, 2:])], 1)
        padded = i.non_max_suppression_padded(corners, scores, 6, 0.4, pad_to_max_output_size=True)
        return {"padded": padded[0], "count": padded[1],
                "cropped": i.crop_and_resize(tf.reshape(boxes, [1, 4, 4, 4])[..., :3], corners[:2], [0, 0], [3, 3])}

    frozen_case(folder, f, {"boxes": numbers(16, 4), "scores": numbers(16, seed=1, low=0.0)})


@case
def drawn_boxes(folder):
    @tf.function
    def f(x, boxes, gray):
        draw = tf.image.draw_bounding_boxes
        return {
            "colors": draw(x, boxes, tf.constant([[1.0, 0.0, 0.5], [0.0, 1.0, 0.25]])), "none": v1.image.draw_bounding_boxes(x, boxes), "four": draw(tf.concat([x, gray], 3), boxes, tf.constant([[0.1, 0.2, 0.3, 0.4]])),
            "gray": v1.image.draw_bounding_boxes(gray, boxes), "half": tf.cast(draw(tf.cast(x, tf.float16), boxes, tf.constant([[1.0, 0.0, 0.5]])), tf.float32),
        }

    boxes = np.array([[[0.0, 0.1, 0.6, 0.7], [-0.2, 0.3, 0.4, 1.3], [0.8, 0.2, 0.3, 0.5]], [[1.2, 0.0, 1.5, 0.5], [0.25, 0.25, 1.0, 1.0], [0.5, 0.5, 0.5, 0.5]]], np.float32)
    frozen_case(folder, f, {"x": numbers(2, 11, 13, 3, low=0.0), "boxes": boxes, "gray": numbers(2, 11, 13, 1, seed=1, low=0.0)})


@case
def glimpses(folder):
    @tf.function
    def f(x, near, far):
        made = {}
        for name, op in (("first", tf.raw_ops.ExtractGlimpse), ("second", tf.raw_ops.ExtractGlimpseV2)):
            for centered in (False, True):
                made[f"{name}{centered}"] = op(input=x, size=[3, 4], offsets=far, centered=centered, normalized=False, uniform_noise=False, noise="zero")
                made[f"{name}{centered}normalized"] = op(input=x, size=[4, 3], offsets=near, centered=centered, normalized=True, uniform_noise=False, noise="zero")
        # Pixels within the image do not depend on the noise.
        made["noise"] = tf.image.extract_glimpse(x, [2, 2], tf.constant([[0.1, -0.2], [0.0, 0.3]]), noise="uniform") + 0.0 * x[:, :2, :2]
        return made

    near = np.array([[-0.7, 0.3], [0.55, 0.97]], np.float32)
    frozen_case(folder, f, {"x": numbers(2, 8, 9, 2), "near": near, "far": near * 7.0})


@case
def image_gradients(folder):
    @tf.function
    def f(x, k):
        i = tf.image

        def gradient(function, *values):
            with tf.GradientTape() as tape:
                tape.watch(values)
                loss = tf.reduce_sum(tf.square(function(*values)))
            return tape.gradient(loss, values)

        made = {f"{method}{smooth}": gradient(lambda x: i.resize(x, [4, 11], method, antialias=smooth), x)[0] for method in ("bicubic", "lanczos3", "mitchellcubic") for smooth in (False, True)}
        boxes = tf.constant([[0.1, 0.2, 0.8, 0.9], [-0.2, 0.0, 0.6, 1.3], [0.9, 0.8, 0.2, 0.3]])
        for size in ([3, 4], [1, 2]):
            crops = gradient(lambda x, boxes: i.crop_and_resize(x, boxes, [0, 1, 1], size), x, boxes)
            made |= {f"cropped{size[0]}": crops[0], f"boxes{size[0]}": crops[1]}
        made["aligned"] = gradient(lambda x: v1.image.resize_bicubic(x, [9, 3], align_corners=True), x)[0]
        for padding in ("SAME", "VALID"):
            dilated = gradient(lambda x, k: tf.nn.dilation2d(x, k, [1, 2, 1, 1], padding, "NHWC", [1, 1, 2, 1]), x, k)
            eroded = gradient(lambda x, k: tf.nn.erosion2d(x, k, [1, 1, 1, 1], padding, "NHWC", [1, 1, 1, 1]), x, k)
            made |= {f"dilated{padding}": dilated[0], f"dilated_filter{padding}": dilated[1], f"eroded{padding}": eroded[0], f"eroded_filter{padding}": eroded[1]}
        return made

    frozen_case(folder, f, {"x": numbers(2, 6, 7, 3), "k": numbers(3, 2, 3, seed=1)})


@case
def soft_suppression(folder):
    @tf.function
    def f(boxes, scores):
        i = tf.image
        made = {}
        for sigma in (0.3, 2.0):
            chosen, kept = i.non_max_suppression_with_scores(boxes, scores, 6, 0.5, 0.1, sigma)
            made |= {f"chosen{sigma}": chosen, f"scores{sigma}": kept}
        padded = tf.raw_ops.NonMaxSuppressionV5(boxes=boxes, scores=scores, max_output_size=15, iou_threshold=0.5, score_threshold=0.2, soft_nms_sigma=0.5, pad_to_max_output_size=True)
        return made | {"padded": padded.selected_indices, "padded_scores": padded.selected_scores, "count": padded.valid_outputs}

    corners = np.random.default_rng(3).uniform(0.0, 1.0, (12, 2))
    boxes = np.concatenate([corners, corners + 0.4], 1).astype(np.float32)
    frozen_case(folder, f, {"boxes": boxes, "scores": numbers(12, seed=2, low=0.0)})
