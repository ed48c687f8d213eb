use super::*;

fn file(name: &str) -> Vec<u8> {
    std::fs::read(format!("{}/../tests/images/{name}", env!("CARGO_MANIFEST_DIR"))).unwrap()
}

fn decode(name: &str) -> Image {
    Image::decode(&file(name)).unwrap()
}

fn pixel(image: &Image, row: usize, column: usize) -> [u8; 3] {
    let at = (row * image.width() + column) * CHANNELS;
    [image.pixels()[at], image.pixels()[at + 1], image.pixels()[at + 2]]
}

#[test]
fn files_of_every_kind_are_read() {
    // What Pillow reads at rows 20, 30 and 2, columns 25, 45 and 50.
    let cases = [
        ("shapes.png", [[220, 60, 30], [0, 0, 0], [200, 220, 250]]),
        ("palette.png", [[220, 60, 30], [0, 0, 0], [200, 220, 250]]),
        ("grey_alpha.png", [[104; 3], [0; 3], [217; 3]]),
        ("shapes.jpg", [[214, 56, 44], [0, 12, 0], [200, 219, 249]]),
        ("progressive.jpg", [[214, 56, 44], [0, 12, 0], [200, 219, 249]]),
        ("grey.jpg", [[102; 3], [1; 3], [217; 3]]),
    ];
    for (name, expected) in cases {
        let image = decode(name);
        assert_eq!((image.height(), image.width()), (40, 60), "{name}");
        for ((row, column), expected) in [(20, 25), (30, 45), (2, 50)].into_iter().zip(expected) {
            let found = pixel(&image, row, column);
            // Decoders of JPEG may round differently.
            let near = found.iter().zip(&expected).all(|(&f, &e)| f.abs_diff(e) <= 4);
            assert!(
                near && (name.ends_with("jpg") || found == expected),
                "{name}: {found:?}, not {expected:?}"
            );
        }
    }
}

#[test]
fn broken_images_are_errors() {
    for name in ["shapes.png", "palette.png", "grey_alpha.png", "shapes.jpg", "progressive.jpg", "grey.jpg"] {
        let bytes = file(name);
        // What follows the last pixel of a PNG may be missing.
        let optional_bytes = if name.ends_with("png") { 24 } else { 0 };
        for end in 0..bytes.len() - optional_bytes {
            assert!(Image::decode(&bytes[..end]).is_err(), "{name}: {end} of {} bytes", bytes.len());
        }
        // What follows the image does not matter.
        let longer = [&bytes[..], &[0xff, 0xda, 0x00]].concat();
        assert!(Image::decode(&longer).is_ok(), "{name}");
        for at in 0..bytes.len() {
            for byte in [0, 0x7f, 0xff] {
                let mut damaged = bytes.clone();
                damaged[at] = byte;
                if let Ok(image) = Image::decode(&damaged) {
                    assert_eq!(image.pixels().len(), image.height() * image.width() * CHANNELS);
                }
            }
        }
    }
    let cases: [(&[u8], &str); 4] = [
        (b"", "it is neither a JPEG nor a PNG image"),
        (b"GIF89a", "it is neither a JPEG nor a PNG image"),
        (&[0xff, 0xd8], "the JPEG image is broken"),
        (b"\x89PNG\r\n\x1a\n", "the PNG image is broken"),
    ];
    for (bytes, message) in cases {
        let error = Image::decode(bytes).unwrap_err().to_string();
        assert!(error.starts_with(message), "{error}");
    }
}

/// A header that says an image is this large.
fn png_of(width: u32, height: u32) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut encoder = png::Encoder::new(&mut bytes, width, height);
    encoder.set_color(png::ColorType::Grayscale);
    encoder.write_header().unwrap();
    bytes
}

#[test]
fn images_that_are_too_large_are_refused_before_they_take_memory() {
    for (width, height) in [(20_000, 10), (10, 20_000), (16_384, 16_384), (u32::MAX >> 1, u32::MAX >> 1)] {
        let error = Image::decode(&png_of(width, height)).unwrap_err().to_string();
        assert!(error.contains("too large"), "{width} x {height}: {error}");
    }
    // The size is at byte 5 of the frame's header.
    let mut jpeg = file("shapes.jpg");
    let frame = jpeg.windows(2).position(|pair| pair == [0xff, 0xc0]).unwrap();
    jpeg[frame + 5..frame + 9].fill(0xff);
    let error = Image::decode(&jpeg).unwrap_err().to_string();
    assert!(error.contains("JPEG"), "{error}");
    assert!(Image::new(0, 5, vec![]).is_err());
    assert!(Image::new(1, 1, vec![0; 4]).is_err());
}

const PLAIN: Preparation =
    Preparation { side: 16, crop: 12, bgr: false, mean: [0.0; 3], deviation: [1.0; 3] };

impl Preparation {
    fn of(&self, image: &Image) -> Vec<f32> {
        let mut prepared = vec![0.0; self.crop * self.crop * CHANNELS];
        self.apply(image, &mut prepared).unwrap();
        prepared
    }
}

#[test]
fn images_are_scaled_as_pillow_scales_them() {
    let image = decode("shapes.png");
    for (side, crop) in [(16, 12), (72, 64)] {
        let expected = decode(&format!("shapes_{side}_{crop}.png"));
        let found = Preparation { side, crop, ..PLAIN }.of(&image);
        assert_eq!(found.len(), crop * crop * CHANNELS);
        for (at, (found, &expected)) in found.iter().zip(expected.pixels()).enumerate() {
            // Pillow's weights are numbers of fixed point.
            assert!((found - f32::from(expected)).abs() <= 1.0, "{side} {at}: {found}, not {expected}");
        }
        let same = found.iter().zip(expected.pixels()).filter(|(f, e)| **f == f32::from(**e)).count();
        assert!(same * 100 >= found.len() * 99, "{side}: {same} of {}", found.len());
    }
    // Tall images too.
    let tall = Image::new(3, 1, vec![9; 9]).unwrap();
    assert_eq!(Preparation { side: 2, crop: 2, ..PLAIN }.of(&tall), [9.0; 12]);
}

#[test]
fn channels_are_normalized_in_their_order() {
    let image = Image::new(1, 1, vec![10, 20, 30]).unwrap();
    let rgb = Preparation { side: 1, crop: 1, mean: [4.0, 10.0, 10.0], deviation: [2.0, 5.0, 10.0], ..PLAIN };
    assert_eq!(rgb.of(&image), [3.0, 2.0, 2.0]);
    let bgr = Preparation { bgr: true, ..rgb };
    assert_eq!(bgr.of(&image), [13.0, 2.0, 0.0]);
    let wrong = [
        Preparation { crop: 0, ..rgb },
        Preparation { side: 1, crop: 2, ..rgb },
        Preparation { side: SIDE_MAX + 1, ..rgb },
        Preparation { deviation: [1.0, 0.0, 1.0], ..rgb },
        Preparation { deviation: [1.0, f32::NAN, 1.0], ..rgb },
    ];
    for preparation in wrong {
        assert!(preparation.apply(&image, &mut [0.0; CHANNELS]).is_err(), "{preparation:?}");
    }
    assert!(rgb.apply(&image, &mut [0.0; 2 * CHANNELS]).is_err(), "there is one pixel");
}

#[test]
fn extreme_proportions_stay_within_memory() {
    // A row of many pixels becomes so long that only its middle is made.
    let row = Image::new(1, SIDE_MAX, vec![7; SIDE_MAX * CHANNELS]).unwrap();
    let found = Preparation { side: 256, crop: 224, ..PLAIN }.of(&row);
    assert!(found.iter().all(|&value| value == 7.0) && found.len() == 224 * 224 * 3);
}
