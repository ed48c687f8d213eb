//! Random numbers, computed on the device with a generator from the host.

use tfrt_math::Distribution;
use tfrt_tensor::TensorMetadata;

use super::{Queued, check_floats, computed_on_host, count, on_host};
use crate::{
    DeviceCall, HostArguments, OpRegistry,
    ops::random::{
        Seeding, dtype, integers_between, key_and_counter, keyed, random_shape, seeded, stateless,
        which_algorithm,
    },
};

fn random<const N: usize>(call: &DeviceCall<'_>, seeding: Seeding, distribution: Distribution) -> Queued {
    let arguments = on_host::<N>(call)?;
    let (dtype, generator) = (dtype(call.attrs)?, seeding(&arguments, call.attrs)?);
    check_floats(dtype, "a random op")?;
    let y = call.allocate_as(&TensorMetadata::new(dtype, random_shape(&arguments)?))?;
    let (kernels, stream) = (call.queue.kernels(), call.queue.stream());
    kernels.random(stream, distribution, dtype, y.buffer(), count(&y), &generator)?;
    Ok(y.into())
}

fn random_integers<const N: usize>(call: &DeviceCall<'_>, seeding: Seeding) -> Queued {
    let arguments = on_host::<N>(call)?;
    let (generator, shape) = (seeding(&arguments, call.attrs)?, random_shape(&arguments)?);
    let integers = integers_between(&arguments, shape.num_elements()? == 0)?;
    let y = call.allocate_as(&TensorMetadata::new(arguments[N - 1].dtype(), shape))?;
    let (kernels, stream) = (call.queue.kernels(), call.queue.stream());
    kernels.random_integers(stream, integers, y.buffer(), count(&y), &generator)?;
    Ok(y.into())
}

pub(super) fn register(ops: &mut OpRegistry) {
    use Distribution::{Normal, Truncated, Uniform};
    // Shapes, seeds and bounds: results on a device are copied to the host.
    let all = HostArguments::at(&[0, 1, 2, 3, 4, 5]);
    ops.extend("tf.RandomUniform").device_with(|call| random::<1>(call, seeded, Uniform), all);
    ops.extend("tf.RandomStandardNormal").device_with(|call| random::<1>(call, seeded, Normal), all);
    ops.extend("tf.TruncatedNormal").device_with(|call| random::<1>(call, seeded, Truncated), all);
    ops.extend("tf.StatelessRandomUniform").device_with(|call| random::<2>(call, stateless, Uniform), all);
    ops.extend("tf.StatelessRandomNormal").device_with(|call| random::<2>(call, stateless, Normal), all);
    ops.extend("tf.StatelessTruncatedNormal")
        .device_with(|call| random::<2>(call, stateless, Truncated), all);
    ops.extend("tf.StatelessRandomUniformV2").device_with(|call| random::<4>(call, keyed, Uniform), all);
    ops.extend("tf.StatelessRandomNormalV2").device_with(|call| random::<4>(call, keyed, Normal), all);
    ops.extend("tf.StatelessTruncatedNormalV2").device_with(|call| random::<4>(call, keyed, Truncated), all);
    // Arguments that other ops take from the host stay there.
    ops.extend("tf.StatelessRandomGetKeyCounter")
        .device_with(|call| computed_on_host(call, |call| key_and_counter(&call, false)), all)
        .results_on_host();
    ops.extend("tf.StatelessRandomGetKeyCounterAlg")
        .device_with(|call| computed_on_host(call, |call| key_and_counter(&call, true)), all)
        .results_on_host();
    ops.extend("tf.StatelessRandomGetAlg")
        .device_with(|call| computed_on_host(call, which_algorithm), all)
        .results_on_host();
    ops.extend("tf.RandomUniformInt").device_with(|call| random_integers::<3>(call, seeded), all);
    ops.extend("tf.StatelessRandomUniformInt").device_with(|call| random_integers::<4>(call, stateless), all);
    ops.extend("tf.StatelessRandomUniformIntV2").device_with(|call| random_integers::<6>(call, keyed), all);
}
