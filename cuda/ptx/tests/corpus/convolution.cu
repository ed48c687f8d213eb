// targets: 75 90
// Convolutions, pooling and stencils.

struct Shape {
    int batch, height, width, channels;
    int out_height, out_width, filters;
    int kernel, stride, padding;
};

// NHWC input, HWIO filter; a thread a result.
extern "C" __global__ void conv2d_direct(const float *x, const float *filter, const float *bias, float *y, Shape s) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= s.batch * s.out_height * s.out_width * s.filters) return;
    int o = i % s.filters, ow = i / s.filters % s.out_width, oh = i / s.filters / s.out_width % s.out_height;
    int b = i / s.filters / s.out_width / s.out_height;
    float sum = bias[o];
    for (int kh = 0; kh < s.kernel; ++kh) {
        int h = oh * s.stride + kh - s.padding;
        if (h < 0 || h >= s.height) continue;
        for (int kw = 0; kw < s.kernel; ++kw) {
            int w = ow * s.stride + kw - s.padding;
            if (w < 0 || w >= s.width) continue;
            for (int c = 0; c < s.channels; ++c)
                sum += x[((b * s.height + h) * s.width + w) * s.channels + c] *
                       filter[((kh * s.kernel + kw) * s.channels + c) * s.filters + o];
        }
    }
    y[i] = sum;
}

// One row of the matrix for each result's window: columns are kh, kw, c.
extern "C" __global__ void im2col(const float *x, float *matrix, Shape s) {
    int row = blockIdx.x, columns = s.kernel * s.kernel * s.channels;
    int ow = row % s.out_width, oh = row / s.out_width % s.out_height, b = row / s.out_width / s.out_height;
    for (int column = threadIdx.x; column < columns; column += blockDim.x) {
        int c = column % s.channels, kw = column / s.channels % s.kernel, kh = column / s.channels / s.kernel;
        int h = oh * s.stride + kh - s.padding, w = ow * s.stride + kw - s.padding;
        bool inside = static_cast<unsigned>(h) < s.height && static_cast<unsigned>(w) < s.width;
        matrix[row * columns + column] = inside ? x[((b * s.height + h) * s.width + w) * s.channels + c] : 0.0f;
    }
}

// A channel a filter; channels along threads.
extern "C" __global__ void conv2d_depthwise(const float *x, const float *filter, float *y, Shape s) {
    int c = threadIdx.x, ow = blockIdx.x, oh = blockIdx.y, b = blockIdx.z;
    float sum = 0;
    for (int kh = 0; kh < s.kernel; ++kh)
        for (int kw = 0; kw < s.kernel; ++kw) {
            int h = oh * s.stride + kh - s.padding, w = ow * s.stride + kw - s.padding;
            if (h >= 0 && h < s.height && w >= 0 && w < s.width)
                sum += x[((b * s.height + h) * s.width + w) * s.channels + c] * filter[(kh * s.kernel + kw) * s.channels + c];
        }
    y[((b * s.out_height + oh) * s.out_width + ow) * s.channels + c] = sum;
}

// Largest of each window and where it lies in the image; padding never wins.
extern "C" __global__ void max_pool(const float *x, float *y, int *where, Shape s) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= s.batch * s.out_height * s.out_width * s.channels) return;
    int c = i % s.channels, ow = i / s.channels % s.out_width, oh = i / s.channels / s.out_width % s.out_height;
    int b = i / s.channels / s.out_width / s.out_height;
    float best = __int_as_float(0xff800000);
    int at = -1;
    for (int kh = 0; kh < s.kernel; ++kh)
        for (int kw = 0; kw < s.kernel; ++kw) {
            int h = oh * s.stride + kh - s.padding, w = ow * s.stride + kw - s.padding;
            if (h < 0 || h >= s.height || w < 0 || w >= s.width) continue;
            float v = x[((b * s.height + h) * s.width + w) * s.channels + c];
            if (v > best) {
                best = v;
                at = h * s.width + w;
            }
        }
    y[i] = best;
    where[i] = at;
}

// Gradients go back to where the largest element was.
extern "C" __global__ void max_pool_gradient(const float *dy, const int *where, float *dx, Shape s) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= s.batch * s.out_height * s.out_width * s.channels) return;
    int c = i % s.channels, b = i / (s.channels * s.out_width * s.out_height);
    atomicAdd(&dx[(b * s.height * s.width + where[i]) * s.channels + c], dy[i]);
}

// Mean of what of the window lies within the image.
extern "C" __global__ void average_pool(const float *x, float *y, Shape s) {
    int c = threadIdx.x, ow = blockIdx.x, oh = blockIdx.y, b = blockIdx.z;
    int top = max(oh * s.stride - s.padding, 0), bottom = min(oh * s.stride - s.padding + s.kernel, s.height);
    int left = max(ow * s.stride - s.padding, 0), right = min(ow * s.stride - s.padding + s.kernel, s.width);
    float sum = 0;
    for (int h = top; h < bottom; ++h)
        for (int w = left; w < right; ++w) sum += x[((b * s.height + h) * s.width + w) * s.channels + c];
    y[((b * s.out_height + oh) * s.out_width + ow) * s.channels + c] = sum / ((bottom - top) * (right - left));
}

__constant__ float taps[9] = {0.0625f, 0.125f, 0.25f, 0.5f, 1.0f, -0.5f, -0.25f, -0.125f, -0.0625f};

// Nine taps from constant memory, over a tile with its halo in dynamic shared memory.
extern "C" __global__ void filter_1d(const float *x, float *y, int n) {
    extern __shared__ float tile[];
    int first = blockIdx.x * blockDim.x - 4;
    for (int j = threadIdx.x; j < blockDim.x + 8; j += blockDim.x) {
        int i = first + j;
        tile[j] = i >= 0 && i < n ? x[i] : 0.0f;
    }
    __syncthreads();
    int i = first + 4 + threadIdx.x;
    if (i >= n) return;
    float sum = 0;
    for (int j = 0; j < 9; ++j) sum += taps[j] * tile[threadIdx.x + j];
    y[i] = sum;
}

// Seven-point stencil of a volume, blocks of three dimensions; the outermost layer stays.
extern "C" __global__ void heat_3d(const double *x, double *y, int nx, int ny, int nz, double rate) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, j = blockIdx.y * blockDim.y + threadIdx.y;
    int k = blockIdx.z * blockDim.z + threadIdx.z;
    if (i >= nx || j >= ny || k >= nz) return;
    int at = (k * ny + j) * nx + i;
    if (i == 0 || j == 0 || k == 0 || i == nx - 1 || j == ny - 1 || k == nz - 1) {
        y[at] = x[at];
        return;
    }
    double around = x[at - 1] + x[at + 1] + x[at - nx] + x[at + nx] + x[at - nx * ny] + x[at + nx * ny];
    y[at] = x[at] + rate * (around - 6.0 * x[at]);
}

// Bilinear resize of bytes, rounding to nearest.
extern "C" __global__ void resize_bilinear(const unsigned char *x, unsigned char *y, int h, int w, int oh, int ow) {
    int c = blockIdx.x * blockDim.x + threadIdx.x, r = blockIdx.y * blockDim.y + threadIdx.y;
    if (c >= ow || r >= oh) return;
    float fy = r * static_cast<float>(h - 1) / (oh - 1), fx = c * static_cast<float>(w - 1) / (ow - 1);
    int y0 = floorf(fy), x0 = floorf(fx), y1 = min(y0 + 1, h - 1), x1 = min(x0 + 1, w - 1);
    float ty = fy - y0, tx = fx - x0;
    float top = x[y0 * w + x0] * (1 - tx) + x[y0 * w + x1] * tx;
    float bottom = x[y1 * w + x0] * (1 - tx) + x[y1 * w + x1] * tx;
    y[r * ow + c] = static_cast<unsigned char>(rintf(top * (1 - ty) + bottom * ty));
}
