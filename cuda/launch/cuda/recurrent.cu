// targets: 75
//
// One turn of the cells of recurrent networks, for all directions and sequences of a batch at once. The products of inputs
// and of hidden states with their matrices are computed before.
//
//   rnn_{f32,f64}(h, y, CELL)
//   lstm_{f32,f64}(h, c, y, peepholes, coupled, CELL)
//       with `coupled`, the forget gate is one minus the input gate
//   gru_reset_{f32,f64}(reset, h, CELL)
//       reset = the reset gate times h
//   gru_{f32,f64}(h, y, candidate, CELL)
//       `candidate` is the product of the reset states; null if the reset comes after the product
//
// CELL is: gates, products, bias, lengths, activations, steps, batch, hidden, directions, turn, reversed, batch_first, clip.
// The states h and c, which are [directions, batch, hidden], become the next ones. y, which has the hidden states of all
// steps, is [steps, directions, batch, hidden], or with `batch_first` [batch, steps, directions, hidden].
//
// gates is [directions, steps, batch, K * hidden] (`batch_first`: batch before steps), products [directions, batch,
// K * hidden], bias [directions, 2 * K * hidden] or null, peepholes [directions, 3 * hidden] or null, candidate like h. K is
// 1 for an RNN, 3 for a GRU (update, reset, hidden), 4 for an LSTM (input, output, forget, cell). lengths (i32) has the number
// of steps of each sequence, at most `steps`; a sequence without a step in this turn keeps its states. Null: all have `steps`.
// Bit d of `reversed` says that direction d takes the steps from the last to the first. activations has three numbers, a code
// and two parameters, for each of three activations of each direction. Below zero, `clip` does nothing. turn is a count;
// reversed, batch_first and coupled are u32.
#include "common.cuh"
#include "functions.cuh"

// The codes are part of the kernels' interface.
enum Activation : u32 {
    SIGMOID, TANH, RELU, AFFINE, LEAKY_RELU, THRESHOLDED_RELU, SCALED_TANH, HARD_SIGMOID, ELU, SOFTSIGN, SOFTPLUS,
};
constexpr u32 ACTIVATIONS = 3;

template <class A>
static __device__ __noinline__ A activation(const A *form, A x) {
    A alpha = form[1], beta = form[2];
    switch ((u32)form[0]) {
        case SIGMOID: return function::sigmoid(x);
        case TANH: return function::tanh(x);
        case RELU: return function::relu(x);
        case AFFINE: return alpha * x + beta;
        case LEAKY_RELU: return x >= A(0) ? x : alpha * x;
        case THRESHOLDED_RELU: return x >= alpha ? x : A(0);
        case SCALED_TANH: return alpha * function::tanh(beta * x);
        case HARD_SIGMOID: return ::maximum(::minimum(alpha * x + beta, A(1)), A(0));
        case ELU: return x >= A(0) ? x : alpha * function::expm1(x);
        case SOFTSIGN: return function::softsign(x);
        default: return function::softplus(x);
    }
}

template <class A>
struct Cell {
    const A *gates, *products, *bias;
    const i32 *lengths;
    const A *activations;
    count_t steps, batch, hidden, directions, turn;
    u32 reversed, batch_first;
    A clip;
};
#define CELL_PARAMETERS(A)                                                                                            \
    const A *gates, const A *products, const A *bias, const i32 *lengths, const A *activations, count_t steps,        \
        count_t batch, count_t hidden, count_t directions, count_t turn, u32 reversed, u32 batch_first, A clip
#define CELL(A)                                                                                                       \
    (Cell<A>{gates, products, bias, lengths, activations, steps, batch, hidden, directions, turn, reversed, batch_first, clip})

// One unit of the state of a sequence in one direction.
template <class A>
struct Unit {
    const Cell<A> &cell;
    u32 gate_count;
    count_t direction, sequence, unit, step;

    // The inputs' part of a gate, and the hidden state's.
    __device__ __forceinline__ A from_input(u32 gate) const {
        count_t row = cell.batch_first ? sequence * cell.steps + step : step * cell.batch + sequence;
        count_t rows = direction * cell.steps * cell.batch + row;
        return cell.gates[(rows * gate_count + gate) * cell.hidden + unit];
    }
    __device__ __forceinline__ A from_state(u32 gate) const {
        return cell.products[((direction * cell.batch + sequence) * gate_count + gate) * cell.hidden + unit];
    }
    __device__ __forceinline__ A bias(u32 part, u32 gate) const {
        if (cell.bias == nullptr) return A(0);
        return cell.bias[((direction * 2 + part) * gate_count + gate) * cell.hidden + unit];
    }
    // A gate before its activation.
    __device__ __forceinline__ A sum(u32 gate) const {
        return (from_input(gate) + from_state(gate)) + (bias(0, gate) + bias(1, gate));
    }
    __device__ __forceinline__ A apply(u32 which, A x) const {
        return activation(cell.activations + (direction * ACTIVATIONS + which) * 3, x);
    }
    __device__ __forceinline__ A activate(u32 which, A x) const {
        // NaN stays.
        if (cell.clip >= A(0)) x = x > cell.clip ? cell.clip : (x < -cell.clip ? -cell.clip : x);
        return apply(which, x);
    }
    __device__ __forceinline__ count_t output() const {
        count_t row = cell.batch_first ? (sequence * cell.steps + step) * cell.directions + direction
                                       : (step * cell.directions + direction) * cell.batch + sequence;
        return row * cell.hidden + unit;
    }
};

// Calls f with each unit that has a step in this turn, and its place in a state.
template <class A, class F>
__device__ __forceinline__ void each_unit(const Cell<A> &cell, u32 gate_count, F f) {
    count_t n = cell.directions * cell.batch * cell.hidden;
    for (count_t i = global_thread(); i < n; i += global_threads()) {
        count_t row = quotient(i, cell.hidden), direction = quotient(row, cell.batch);
        count_t sequence = row - direction * cell.batch;
        i64 length = cell.lengths == nullptr ? (i64)cell.steps : (i64)cell.lengths[sequence];
        if (length > (i64)cell.steps) length = (i64)cell.steps;
        if ((i64)cell.turn >= length) continue;
        count_t step = (cell.reversed >> direction) & 1 ? (count_t)length - 1 - cell.turn : cell.turn;
        f(i, Unit<A>{cell, gate_count, direction, sequence, i - row * cell.hidden, step});
    }
}

template <class A>
__device__ __forceinline__ void rnn(A *h, A *y, const Cell<A> &cell) {
    each_unit(cell, 1, [&](count_t i, const Unit<A> &unit) { h[i] = y[unit.output()] = unit.activate(0, unit.sum(0)); });
}

template <class A>
__device__ __forceinline__ void lstm(A *h, A *c, A *y, const A *peepholes, bool coupled, const Cell<A> &cell) {
    each_unit(cell, 4, [&](count_t i, const Unit<A> &unit) {
        auto peephole = [&](u32 gate, A state) {
            if (peepholes == nullptr) return A(0);
            return peepholes[(unit.direction * 3 + gate) * cell.hidden + unit.unit] * state;
        };
        A before = c[i];
        A input = unit.activate(0, unit.sum(0) + peephole(0, before));
        A forget = coupled ? A(1) - input : unit.activate(0, unit.sum(2) + peephole(2, before));
        A after = forget * before + input * unit.activate(1, unit.sum(3));
        A output = unit.activate(0, unit.sum(1) + peephole(1, after));
        c[i] = after;
        h[i] = y[unit.output()] = output * unit.apply(2, after);
    });
}

template <class A>
__device__ __forceinline__ void gru_reset(A *reset, const A *h, const Cell<A> &cell) {
    each_unit(cell, 3, [&](count_t i, const Unit<A> &unit) { reset[i] = unit.activate(0, unit.sum(1)) * h[i]; });
}

template <class A>
__device__ __forceinline__ void gru(A *h, A *y, const A *candidate, const Cell<A> &cell) {
    each_unit(cell, 3, [&](count_t i, const Unit<A> &unit) {
        A update = unit.activate(0, unit.sum(0));
        A state = (candidate == nullptr ? unit.from_state(2) : candidate[i]) + unit.bias(1, 2);
        if (candidate == nullptr) state = unit.activate(0, unit.sum(1)) * state;
        A next = unit.activate(1, unit.from_input(2) + unit.bias(0, 2) + state);
        h[i] = y[unit.output()] = (A(1) - update) * next + update * h[i];
    });
}

#define CELLS(A)                                                                                                      \
    KERNEL rnn_##A(A *h, A *y, CELL_PARAMETERS(A)) { rnn(h, y, CELL(A)); }                                            \
    KERNEL lstm_##A(A *h, A *c, A *y, const A *peepholes, u32 coupled, CELL_PARAMETERS(A)) {                          \
        lstm(h, c, y, peepholes, coupled != 0, CELL(A));                                                              \
    }                                                                                                                 \
    KERNEL gru_reset_##A(A *reset, const A *h, CELL_PARAMETERS(A)) { gru_reset(reset, h, CELL(A)); }                  \
    KERNEL gru_##A(A *h, A *y, const A *candidate, CELL_PARAMETERS(A)) { gru(h, y, candidate, CELL(A)); }

CELLS(f32)
CELLS(f64)
