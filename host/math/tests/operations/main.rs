//! Every operation against a plain reference, over random shapes.

#[cfg(test)]
mod convolution;
#[cfg(test)]
mod elementwise;
#[cfg(test)]
mod hostile;
#[cfg(test)]
mod matmul;
#[cfg(test)]
mod minimal_filtering;
#[cfg(test)]
mod support;
#[cfg(test)]
mod training;
