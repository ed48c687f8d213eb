"""Models of TensorFlow's first version: variables, optimizers, builders of SavedModels."""

from .support import *


def session_case(folder, build, inputs, steps=0, signature="serving_default", **more):
    """A SavedModel by a builder: `build` gets placeholders and gives outputs by name."""
    path = os.path.join(folder, "saved_model")
    with tf.Graph().as_default():
        v1.set_random_seed(1)
        holders = {}
        for name, value in inputs.items():
            value = np.asarray(value)
            kind = tf.string if value.dtype.kind in "OSU" else value.dtype
            holders[name] = v1.placeholder(kind, [None, *value.shape[1:]] if value.ndim else [], name)
        outputs = build(**holders)
        with v1.Session() as session:
            session.run([v1.global_variables_initializer(), v1.local_variables_initializer(), v1.tables_initializer()])
            builder = v1.saved_model.builder.SavedModelBuilder(path)
            info = v1.saved_model.utils.build_tensor_info
            definition = v1.saved_model.signature_def_utils.build_signature_def(
                {name: info(tensor) for name, tensor in holders.items()}, {name: info(tensor) for name, tensor in outputs.items()}, "predict")
            builder.add_meta_graph_and_variables(
                session, ["serve"], {signature: definition}, main_op=v1.tables_initializer(), strip_default_attrs=True,
                assets_collection=v1.get_collection(v1.GraphKeys.ASSET_FILEPATHS))
            builder.save()
            values = session.run(outputs, {holders[name]: value for name, value in inputs.items()})
    more = more if signature == "serving_default" else more | {"signature": signature}
    describe(folder, "saved_model", inputs, values, **more)


@case
def first_network(folder):
    def build(x):
        k = v1.get_variable("k", initializer=numbers(3, 3, 2, 4), use_resource=False)
        gamma = v1.get_variable("gamma", initializer=numbers(4, seed=1), use_resource=False)
        beta = v1.get_variable("beta", initializer=numbers(4, seed=2), use_resource=False)
        w = v1.get_variable("w", [6 * 6 * 4, 5], initializer=v1.glorot_uniform_initializer(3), partitioner=v1.fixed_size_partitioner(3), use_resource=False)
        y = tf.nn.conv2d(x, k, 1, "SAME")
        y, mean, variance = v1.nn.fused_batch_norm(y, gamma, beta, beta, gamma * gamma, is_training=False)
        y = tf.nn.relu(y)
        return {"y": tf.matmul(tf.reshape(y, [-1, 144]), tf.convert_to_tensor(w))}

    session_case(folder, build, {"x": numbers(2, 6, 6, 2)}, signature="predict_images")


@case
def first_placeholders(folder):
    def build(x):
        rate = v1.placeholder_with_default(0.25, [], "rate")
        training = v1.placeholder_with_default(False, [], "training")
        y = v1.cond(training, lambda: v1.nn.dropout(x, rate=rate), lambda: x * (1.0 - rate))
        return {"y": y, "z": tf.identity(rate)}

    session_case(folder, build, {"x": numbers(2, 3)})


@case
def first_frozen(folder):
    x_value = numbers(2, 3)
    with tf.Graph().as_default() as graph:
        x = v1.placeholder(tf.float32, [None, 3], "x")
        w = v1.get_variable("w", initializer=numbers(3, 4), use_resource=False)
        y = tf.nn.softmax(tf.matmul(x, w), name="y")
        with v1.Session() as session:
            session.run(v1.global_variables_initializer())
            values = session.run({"y": y}, {x: x_value})
            frozen = v1.graph_util.convert_variables_to_constants(session, graph.as_graph_def(), ["y"])
    tf.io.write_graph(frozen, folder, "graph.pb", as_text=False)
    describe(folder, "graph.pb", {"x": x_value}, values)


@case
def first_updates(folder):
    def build(x, i):
        w = v1.get_variable("w", initializer=numbers(5, 3), use_resource=False)
        added = v1.scatter_add(w, i, x)
        with tf.control_dependencies([added]):
            updated = v1.scatter_nd_update(w, tf.expand_dims(i, 1), x * 2.0)
        with tf.control_dependencies([updated]):
            counted = v1.assign_sub(w, tf.ones([5, 3]))
        return {"w": counted + 0.0}

    session_case(folder, build, {"x": numbers(2, 3, seed=1), "i": np.array([4, 0], np.int32)})
