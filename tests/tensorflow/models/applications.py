"""Networks of Keras's applications, with seeded weights and small images."""

from .networks import application
from .support import *

NETWORKS = {
    "xception": ("Xception", 96, True), "vgg16": ("VGG16", 48, False), "vgg19": ("VGG19", 32, True),
    "resnet50_v2": ("ResNet50V2", 64, False), "resnet101": ("ResNet101", 32, True),
    "inception_v3": ("InceptionV3", 96, True), "inception_resnet": ("InceptionResNetV2", 80, False),
    "mobilenet": ("MobileNet", 64, True), "mobilenet_v3_large": ("MobileNetV3Large", 64, False),
    "nasnet": ("NASNetMobile", 64, True), "densenet169": ("DenseNet169", 32, True),
    "efficientnet_b1": ("EfficientNetB1", 48, True), "efficientnet_v2_s": ("EfficientNetV2S", 48, False),
    "convnext_small": ("ConvNeXtSmall", 32, False),
}


def add(name, make, side, saved):
    def network(folder):
        application(folder, getattr(tf.keras.applications, make), side, saved)

    CASES["keras_" + name] = network


for name, (make, side, saved) in NETWORKS.items():
    add(name, make, side, saved)
