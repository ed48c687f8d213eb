"""SavedModels: variables, tables, signatures."""

from .support import *


class Counter(tf.Module):
    def __init__(self):
        self.count = tf.Variable(3.0)
        self.scale = tf.Variable([1.0, 2.0, 3.0])

    @tf.function(input_signature=[tf.TensorSpec([None, 3], tf.float32, "x")])
    def step(self, x):
        before = self.count.read_value()
        self.count.assign_add(tf.reduce_sum(x))
        if self.count > 3.0:
            self.scale.assign(self.scale * 2.0)
        for _ in tf.range(3):
            self.count.assign_add(1.0)
        return {"before": before, "after": self.count.read_value(), "scaled": x * self.scale}


@case
def saved_state(folder):
    module = Counter()
    saved_case(folder, module, module.step, {"x": numbers(2, 3, low=0.0)})


@case
def saved_signature(folder):
    module = Counter()
    saved_case(folder, module, module.step, {"x": numbers(2, 3, high=0.0)}, signature="step")


@case
def saved_types(folder):
    class Types(tf.Module):
        def __init__(self):
            self.values = [tf.Variable(np.array([3, 1, 2], kind)) for kind in ("i4", "i8", "f8", "u1", "f2", "?")]
            self.text = tf.Variable(["ä", "b"])

        @tf.function(input_signature=[tf.TensorSpec([3], tf.float32, "x")])
        def f(self, x):
            sums = [tf.cast(value, tf.float32) * x for value in self.values]
            return {"sums": tf.stack(sums), "text": tf.strings.join([self.text, self.text])}

    module = Types()
    saved_case(folder, module, module.f, {"x": numbers(3)})


@case
def saved_table(folder):
    class Tables(tf.Module):
        def __init__(self, file):
            self.words = tf.lookup.StaticHashTable(
                tf.lookup.KeyValueTensorInitializer(["a", "b", "c"], tf.constant([10, 20, 30], tf.int64)), -1)
            self.names = tf.lookup.StaticHashTable(
                tf.lookup.TextFileInitializer(file, tf.int64, tf.lookup.TextFileIndex.LINE_NUMBER,
                                              tf.string, tf.lookup.TextFileIndex.WHOLE_LINE), "?")

        @tf.function(input_signature=[tf.TensorSpec([None], tf.string, "text")])
        def f(self, text):
            ids = self.words.lookup(tf.strings.lower(text))
            return {"ids": ids, "names": self.names.lookup(ids // 10)}

    file = os.path.join(folder, "names.txt")
    with open(file, "w") as out:
        out.write("zero\none\ntwo\n")
    module = Tables(file)
    saved_case(folder, module, module.f, {"text": np.array(["A", "b", "C", "d"], object)})
    os.remove(file)


@case
def saved_preprocessing(folder):
    class Words(tf.Module):
        def __init__(self):
            vocabulary = ["the", "quick", "brown", "fox", "dog"]
            self.table = tf.lookup.StaticVocabularyTable(
                tf.lookup.KeyValueTensorInitializer(vocabulary, tf.range(5, dtype=tf.int64)), 1) if False else \
                tf.lookup.StaticHashTable(
                    tf.lookup.KeyValueTensorInitializer(vocabulary, tf.range(5, dtype=tf.int64)), 5)
            self.embedding = tf.Variable(numbers(6, 4))

        @tf.function(input_signature=[tf.TensorSpec([], tf.string, "text")])
        def f(self, text):
            clean = tf.strings.regex_replace(tf.strings.lower(text), r"[^a-z ]", "")
            words = tf.strings.split(clean[tf.newaxis]).values
            ids = self.table.lookup(words)
            return {"words": words, "ids": ids, "mean": tf.reduce_mean(tf.gather(self.embedding, ids), 0)}

    module = Words()
    saved_case(folder, module, module.f, {"text": np.array("The quick, brown FOX jumps!", object)})


@case
def saved_first_version(folder):
    path = os.path.join(folder, "saved_model")
    x_value = numbers(2, 3)
    with tf.Graph().as_default():
        x = v1.placeholder(tf.float32, [None, 3], "x")
        w = v1.get_variable("w", initializer=numbers(3, 4, seed=1), use_resource=False)
        b = v1.get_variable("b", initializer=numbers(4, seed=2), use_resource=True)
        y = tf.nn.softmax(tf.matmul(x, w) + b)
        table = tf.lookup.StaticHashTable(
            tf.lookup.KeyValueTensorInitializer(tf.range(4, dtype=tf.int64), ["a", "b", "c", "d"]), "?")
        names = table.lookup(tf.argmax(y, 1))
        with v1.Session() as session:
            session.run([v1.global_variables_initializer(), v1.tables_initializer()])
            values = session.run({"scores": y, "names": names}, {x: x_value})
            v1.saved_model.simple_save(session, path, {"x": x}, {"scores": y, "names": names},
                                       legacy_init_op=v1.tables_initializer())
    describe(folder, "saved_model", {"x": x_value}, values)
