#!/usr/bin/env python3
"""Exports small models of many kinds to ONNX, with weights from fixed seeds, and an input for each:

    python3 tests/models/exports.py FOLDER

It needs torch, torchvision, transformers, onnxscript, onnxruntime, scikit-learn and skl2onnx. Each model is NAME.onnx, and
NAME.npz holds its inputs. What an exporter cannot export is named and left out.
"""

import logging
import os
import sys
import warnings

import numpy
import onnx
import sklearn.cluster
import sklearn.compose
import sklearn.datasets
import sklearn.decomposition
import sklearn.ensemble
import sklearn.linear_model
import sklearn.naive_bayes
import sklearn.neighbors
import sklearn.neural_network
import sklearn.pipeline
import sklearn.preprocessing
import sklearn.svm
import sklearn.tree
import torch
import torchvision
import transformers
from onnxruntime import quantization
from skl2onnx import to_onnx
from torch import nn
from torch.nn import functional

SEED = 23
# The operator sets of models of scikit-learn.
SETS = {"": 18, "ai.onnx.ml": 3}


def normal(*shape):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(SEED))


def tokens(*shape):
    return torch.randint(3, 90, shape, generator=torch.Generator().manual_seed(SEED))


class Call(nn.Module):
    """A function of tensors, and of a module if there is one, as a module."""

    def __init__(self, function, inner=None):
        super().__init__()
        self.function, self.inner = function, inner

    def forward(self, *inputs):
        return self.function(*inputs) if self.inner is None else self.function(self.inner, *inputs)


def boxes():
    corners = torch.rand(12, 4, generator=torch.Generator().manual_seed(SEED)) * 10
    corners[:, 2:] += corners[:, :2]
    return corners, torch.rand(12, generator=torch.Generator().manual_seed(SEED + 1))


def recurrent(kind):
    return Call(lambda layer, x: layer(x)[0], kind(5, 6, num_layers=2, bidirectional=True, batch_first=True))


@torch.jit.script
def collected(x):
    rows: list[torch.Tensor] = []
    for row in range(x.size(0)):
        if bool(x[row].sum() > 0):
            rows.append(x[row : row + 1])
        else:
            rows.append(torch.cat([x[row : row + 1], x[row : row + 1]]))
    return torch.cat(rows)


@torch.jit.script
def doubled(x):
    while bool(x.sum() < 100.0):
        x = x * 2 + 1
    return x


INDEX = torch.tensor([[0, 2, 1], [1, 0, 0]])
# Functions and layers, with inputs. The first dimension of the first input stays open.
LAYERS = {
    "rnn": (recurrent(nn.RNN), normal(3, 7, 5)),
    "lstm": (recurrent(nn.LSTM), normal(3, 7, 5)),
    "gru": (recurrent(nn.GRU), normal(3, 7, 5)),
    "scatter": (lambda x, y: x.scatter_add(1, INDEX, y), normal(2, 4), normal(2, 3)),
    "einsum": (lambda a, b, c: torch.einsum("ab,bc,cd->ad", a, b, c), normal(2, 3), normal(3, 4), normal(4, 5)),
    "unfold": (lambda x: functional.unfold(x, 3, padding=1, stride=2), normal(2, 3, 8, 9)),
    "fold": (lambda x: functional.fold(x, (6, 6), 3, padding=1), normal(2, 27, 36)),
    "grid_sample": (lambda x, at: functional.grid_sample(x, at, align_corners=False), normal(2, 3, 5, 6), normal(2, 4, 4, 2)),
    "nms": (lambda corners, scores: torchvision.ops.nms(corners, scores, 0.4), *boxes()),
    "roi_align": (lambda x, rois: torchvision.ops.roi_align(x, rois, (3, 3), 0.5, 2, aligned=True), normal(2, 3, 8, 8), torch.tensor([[0.0, 1, 1, 6, 7], [1, 0, 2, 5, 7.5]])),
    "stft": (lambda x: torch.view_as_real(torch.stft(x, 16, 4, window=torch.hann_window(16), return_complex=True)), normal(2, 64)),
    "resize": (lambda x: functional.interpolate(x, scale_factor=2.5, mode="bicubic"), normal(2, 3, 5, 6)),
    "pad": (lambda x: functional.pad(x, (1, 2, 2, 1), mode="reflect"), normal(2, 3, 5, 6)),
    "unpooled": (nn.MaxPool2d(2, 2, return_indices=True), normal(1, 2, 8, 8)),
    "pool": (nn.AvgPool2d(3, 2, 1, ceil_mode=True, count_include_pad=False), normal(1, 2, 8, 9)),
    "transposed": (nn.ConvTranspose2d(4, 6, 3, stride=2, padding=1, dilation=2, groups=2, output_padding=1), normal(2, 4, 5, 6)),
    "shrunk": (lambda x: functional.interpolate(x, scale_factor=(0.6, 0.7)), normal(2, 3, 9, 10)),
    "volume_groups": (nn.Conv3d(4, 6, 3, stride=(2, 1, 2), padding=(1, 0, 2), dilation=(1, 2, 1), groups=2), normal(2, 4, 7, 9, 8)),
    "volume": (nn.Conv3d(2, 3, 3, padding=1, stride=2), normal(1, 2, 5, 6, 7)),
    "attention": (Call(lambda layer, x: layer(x, x, x)[0], nn.MultiheadAttention(8, 2, batch_first=True)), normal(2, 5, 8)),
    "decoder": (nn.TransformerDecoderLayer(8, 2, 16, batch_first=True), normal(2, 5, 8), normal(2, 4, 8)),
    "bag": (nn.EmbeddingBag(100, 4, mode="mean"), tokens(2, 3)),
    "selected": (lambda x: x[x > 0], normal(3, 4)),
    "unique": (lambda x: torch.unique(x, return_inverse=True, return_counts=True), torch.tensor([3, 1, 1, 2, 3])),
    "empty": (lambda x: (x[:0].sum(), torch.cat([x[:0], x]), x[:, :0] @ x[:0]), normal(4, 4)),
    "losses": (lambda x: functional.cross_entropy(x, torch.tensor([0, 1, 2, 0])), normal(4, 3)),
    "sequence": (collected, normal(4, 3)),
    "while": (doubled, torch.rand(3, generator=torch.Generator().manual_seed(SEED))),
}

SIZES = {
    "hidden_size": 64,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "intermediate_size": 128,
    "vocab_size": 100,
}
GROUPS = {**SIZES, "num_key_value_heads": 2, "max_position_embeddings": 64}
T5 = {"d_model": 64, "d_ff": 128, "d_kv": 16, "num_heads": 4, "num_layers": 2, "vocab_size": 100}
WAVES = {"conv_dim": (32, 32), "conv_stride": (5, 2), "conv_kernel": (10, 3), "num_feat_extract_layers": 2, "num_conv_pos_embeddings": 16, "num_conv_pos_embedding_groups": 4}
PICTURES = {**SIZES, "image_size": 32, "patch_size": 8}


def hidden(model, *inputs):
    return model(*inputs).last_hidden_state


def logits(model, *inputs):
    return model(*inputs).logits


def uncached(model, ids):
    return model(input_ids=ids, use_cache=False).logits


def answered(model, ids, begun):
    return model(input_ids=ids, decoder_input_ids=begun, use_cache=False).logits


# Networks of transformers: the class, the configuration, the call, and inputs.
NETWORKS = {
    "bert": ("BertModel", "BertConfig", SIZES, hidden, tokens(2, 7), torch.ones(2, 7, dtype=torch.long)),
    "albert": ("AlbertModel", "AlbertConfig", {**SIZES, "embedding_size": 32}, hidden, tokens(2, 7)),
    "deberta": ("DebertaV2Model", "DebertaV2Config", {**SIZES, "relative_attention": True, "pos_att_type": ["c2p", "p2c"]}, hidden, tokens(2, 7)),
    "gpt2": ("GPT2LMHeadModel", "GPT2Config", {"n_embd": 64, "n_layer": 2, "n_head": 4, "vocab_size": 100}, uncached, tokens(2, 7)),
    "llama": ("LlamaForCausalLM", "LlamaConfig", GROUPS, uncached, tokens(2, 7)),
    "gemma": ("Gemma2ForCausalLM", "Gemma2Config", {**GROUPS, "head_dim": 16, "sliding_window": 4}, uncached, tokens(2, 7)),
    "mamba": ("MambaForCausalLM", "MambaConfig", {**SIZES, "state_size": 8}, uncached, tokens(2, 7)),
    "t5": ("T5ForConditionalGeneration", "T5Config", T5, answered, tokens(2, 7), tokens(2, 5)),
    "vit": ("ViTModel", "ViTConfig", PICTURES, hidden, normal(2, 3, 32, 32)),
    "wav2vec2": ("Wav2Vec2ForCTC", "Wav2Vec2Config", {**SIZES, **WAVES, "vocab_size": 32}, logits, normal(2, 800)),
}

LINEAR, ENSEMBLE = sklearn.linear_model, sklearn.ensemble
CLASSIFIERS = {
    "logistic": LINEAR.LogisticRegression(),
    "tree": sklearn.tree.DecisionTreeClassifier(random_state=SEED),
    "forest": ENSEMBLE.RandomForestClassifier(5, random_state=SEED),
    "boosting": ENSEMBLE.GradientBoostingClassifier(n_estimators=5, random_state=SEED),
    "svc": sklearn.svm.SVC(probability=True, random_state=SEED),
    "linear_svc": sklearn.svm.LinearSVC(),
    "neighbors": sklearn.neighbors.KNeighborsClassifier(3),
    "perceptron": sklearn.neural_network.MLPClassifier((8,), max_iter=30, random_state=SEED),
    "bayes": sklearn.naive_bayes.GaussianNB(),
    "pipeline": sklearn.pipeline.make_pipeline(
        sklearn.preprocessing.StandardScaler(), sklearn.decomposition.PCA(3), LINEAR.LogisticRegression()
    ),
}
OTHERS = {
    "ridge": LINEAR.Ridge(),
    "forest_regressor": ENSEMBLE.RandomForestRegressor(5, random_state=SEED),
    "svr": sklearn.svm.SVR(),
    "scaler": sklearn.preprocessing.MinMaxScaler(),
    "normalizer": sklearn.preprocessing.Normalizer("l2"),
    "bins": sklearn.preprocessing.KBinsDiscretizer(n_bins=3, encode="onehot-dense"),
    "polynomial": sklearn.preprocessing.PolynomialFeatures(2),
    "kmeans": sklearn.cluster.KMeans(3, random_state=SEED),
    "isolation": ENSEMBLE.IsolationForest(n_estimators=5, random_state=SEED),
}


def save(folder, name, inputs):
    """Keeps the inputs of a model by their names in it."""
    model = onnx.load(os.path.join(folder, f"{name}.onnx"), load_external_data=False)
    constants = {tensor.name for tensor in model.graph.initializer}
    names = [value.name for value in model.graph.input if value.name not in constants]
    numpy.savez(os.path.join(folder, f"{name}.npz"), **dict(zip(names, inputs)))


def export(folder, name, module, inputs):
    """By both exporters: one traces with open extents, the other one captures the whole program."""
    for exporter, options in [
        ("traced", {"dynamo": False, "opset_version": 18, "dynamic_axes": {"x0": {0: "n"}}}),
        ("captured", {"dynamo": True, "opset_version": 20, "external_data": False, "verbose": False}),
    ]:
        path = os.path.join(folder, f"{exporter}_{name}.onnx")
        names = [f"x{number}" for number in range(len(inputs))]
        try:
            with torch.no_grad():
                torch.onnx.export(module, inputs, path, input_names=names, **options)
        except Exception as error:  # Each exporter refuses some models, with errors of many kinds.
            print(f"not exported: {exporter}_{name}: {type(error).__name__}", flush=True)
            continue
        save(folder, f"{exporter}_{name}", [tensor.numpy() for tensor in inputs])


def export_torch(folder):
    for name, (function, *inputs) in LAYERS.items():
        module = function if isinstance(function, nn.Module) else Call(function)
        export(folder, name, module.eval(), tuple(inputs))
    for name, (network, config, options, call, *inputs) in NETWORKS.items():
        torch.manual_seed(SEED)
        module = getattr(transformers, network)(getattr(transformers, config)(**options)).eval()
        export(folder, name, Call(call, module), tuple(inputs))


def export_sklearn(folder):
    x, y = sklearn.datasets.make_classification(60, 6, n_informative=4, n_classes=3, random_state=SEED)
    x, names = x.astype(numpy.float32), numpy.array(["a", "bb", "ccc"])[y]
    models = [(f"{name}_of_{kind}", model, labels) for name, model in CLASSIFIERS.items() for kind, labels in [("integers", y), ("strings", names), ("two", y > 0)]]
    for name, model, labels in models + [(name, model, y) for name, model in OTHERS.items()]:
        model.fit(x, labels)
        last = model.steps[-1][1] if isinstance(model, sklearn.pipeline.Pipeline) else model
        options = {id(last): {"zipmap": False}} if hasattr(last, "predict_proba") else None
        with open(os.path.join(folder, f"sklearn_{name}.onnx"), "wb") as file:
            file.write(to_onnx(model, x[:1], options=options, target_opset=SETS).SerializeToString())
        save(folder, f"sklearn_{name}", [x[:11]])


def export_quantized(folder):
    """Networks of the other functions, quantized in the ways that ONNX Runtime offers."""
    for source in ("traced_bert", "traced_vit", "captured_gpt2"):
        path = os.path.join(folder, f"{source}.onnx")
        inputs = list(numpy.load(os.path.join(folder, f"{source}.npz")).values())
        quantization.quantize_dynamic(path, os.path.join(folder, f"dynamic_{source}.onnx"))
        save(folder, f"dynamic_{source}", inputs)
        for width in (quantization.QuantType.QInt8, quantization.QuantType.QInt4):
            name = f"static_{width.name}_{source}"
            quantization.quantize_static(
                path, os.path.join(folder, f"{name}.onnx"), Inputs(path, inputs), weight_type=width
            )
            save(folder, name, inputs)


class Inputs(quantization.CalibrationDataReader):
    """One set of inputs, to calibrate with."""

    def __init__(self, path, inputs):
        names = [value.name for value in onnx.load(path).graph.input]
        self.left = [dict(zip(names, inputs))]

    def get_next(self):
        return self.left.pop() if self.left else None


def main(folder):
    warnings.filterwarnings("ignore")
    logging.disable(logging.WARNING)
    export_torch(folder)
    export_sklearn(folder)
    export_quantized(folder)


if __name__ == "__main__":
    main(sys.argv[1])
