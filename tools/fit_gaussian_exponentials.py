#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Fits the constants of Approximation = Accurate: three conjugate pairs of exponentials for each derivative order.

With t = n / sigma, half of the kernel of order k is h_k(t) = Re sum_j c_jk exp(p_j t), t >= 0, and the poles p_j are
the same for the three orders. It approximates the k-th derivative of exp(-t^2/2), under these constraints on its
moments:

    order 0   int h = int t^2 h = sqrt(pi/2)    sum and standard deviation of the Gaussian
    order 1   h(0) = 0, int t h = -sqrt(pi/2)   an odd function; unit response to a ramp
    order 2   int h = 0, int t^2 h = sqrt(2 pi) none to constants; unit response to t^2/2

For given poles the weights are linear: a constrained least-squares problem whose weights are updated until the largest
error is as small as it can be (Lawson, 1961). The poles minimise the largest of the three orders' errors, each in units
of its goal, by the method of Nelder and Mead. Sampling at the pixels changes the moments, especially at small sigma.
The filter restores them when it makes a kernel (normalise() here, MakeAccurateImpulseResponse() in the module).

usage: fit_gaussian_exponentials.py           fits, which takes a minute; writes the table in the folder of this file
                                              and the C++ header; prints figures
       fit_gaussian_exponentials.py --check   checks the committed table and header instead of fitting; exit status 1
                                              if they miss a goal
"""
import argparse
import json
import math
import pathlib
import sys

try:
    import numpy
except ImportError:
    sys.exit(77)

HERE = pathlib.Path(__file__).resolve().parent
TABLE = HERE / "gaussian_exponentials.json"
HEADER = HERE.parent / "src" / "gaussian" / "plan" / "AccurateConstants.h"

PAIRS = 3
ROOT = math.sqrt(math.pi / 2.0)
# Largest error of each order, relative to the largest value of what it approximates; of orders 1 and 2 on blobs.
GOALS = (1e-5, 2e-4, 1e-3)
# Goals for the fit of the continuous kernels. At sigma below a pixel, the sum that normalises order 0 has few samples,
# whose errors add up. The fit of order 0 must therefore be twice as good as its goal.
FIT_GOALS = (5e-6, 2e-4, 1e-3)
PEAKS = (1.0, math.exp(-0.5), 1.0)
# Start of the search for the poles: the exponents of Deriche (1993), with a third pair added.
FIRST_POLES = (-2.2 + 0.5j, -2.1 + 1.6j, -2.0 + 2.8j)


def derivative(order, t):
    """Returns the derivative of exp(-t^2/2) of that order."""
    return (numpy.ones_like(t), -t, t * t - 1.0)[order] * numpy.exp(-0.5 * t * t)


def columns(values):
    """Returns the matrix whose product with (Re c, Im c) is Re(c v)."""
    return numpy.concatenate([values.real, -values.imag], axis=-1)


def moment(poles, k):
    """Returns int t^k exp(p t) dt = k! / (-p)^(k+1) over t >= 0."""
    return columns(math.factorial(k) / (-poles) ** (k + 1))


def constraints(poles, order):
    """Returns the rows and right-hand sides of the moment constraints."""
    if order == 0:
        return numpy.array([moment(poles, 0), moment(poles, 2)]), numpy.array([ROOT, ROOT])
    if order == 1:
        return numpy.array([columns(numpy.ones(PAIRS, complex)), moment(poles, 1)]), numpy.array([0.0, -ROOT])
    return numpy.array([moment(poles, 0), moment(poles, 2)]), numpy.array([0.0, 2.0 * ROOT])


def fit_weights(poles, order, t, iterations):
    """Returns the weights with the smallest maximum error that was found, and this error."""
    rows, values = constraints(poles, order)
    particular = numpy.linalg.lstsq(rows, values, rcond=None)[0]
    null_space = numpy.linalg.svd(rows)[2][len(values):].T
    basis = columns(numpy.exp(numpy.outer(t, poles)))
    matrix = basis @ null_space
    rest = derivative(order, t) - basis @ particular
    lawson = numpy.ones_like(t)
    best = None
    for _ in range(iterations + 1):
        root = numpy.sqrt(lawson)
        free = numpy.linalg.lstsq(matrix * root[:, None], rest * root, rcond=1e-14)[0]
        residual = numpy.abs(matrix @ free - rest)
        worst = residual.max() / PEAKS[order]
        if best is None or worst < best[1]:
            solution = particular + null_space @ free
            best = (solution[:PAIRS] + 1j * solution[PAIRS:], worst)
        lawson = numpy.maximum(lawson * residual / residual.max(), 1e-9)
    return best


def fit():
    """Returns the poles, the weights of each order and the errors of each order."""
    from scipy.optimize import minimize

    t = 8.0 * numpy.linspace(0.0, 1.0, 401) ** 1.5  # the error oscillates faster near 0

    def objective(x, iterations, power):
        poles = x[:PAIRS] + 1j * x[PAIRS:]
        if (poles.real > -0.3).any():
            return 1e9
        ratios = [fit_weights(poles, k, t, iterations)[1] / FIT_GOALS[k] for k in range(3)]
        return max(ratios) if power is None else sum(r**power for r in ratios) ** (1.0 / power)

    x = numpy.concatenate([numpy.real(FIRST_POLES), numpy.imag(FIRST_POLES)])
    for iterations, power, rounds in ((0, 8, 4), (40, 8, 2), (150, None, 3)):
        for _ in range(rounds):
            x = minimize(objective, x, args=(iterations, power), method="Nelder-Mead",
                         options={"maxiter": 400, "xatol": 1e-10, "fatol": 1e-10}).x
    poles = numpy.round(x[:PAIRS] + 1j * x[PAIRS:], 12)
    fine = numpy.linspace(0.0, 9.0, 9001)
    fits = [fit_weights(poles, k, fine, 2000) for k in range(3)]
    return poles, [f[0] for f in fits], [f[1] for f in fits]


# The module's use of the constants, and the goals that it must reach.


def half_kernel(poles, weights, sigma, length):
    n = numpy.arange(length)[:, None]
    return (numpy.exp(n * poles / sigma) @ weights).real


def normalise(poles, weights, order, sigma):
    """Returns half of the discrete kernel, n >= 0, scaled so that its discrete moments are exact."""
    length = int(40 * sigma) + 60
    n = numpy.arange(length)
    h = half_kernel(poles, weights[order], sigma, length)
    if order == 0:
        return h / (2.0 * h.sum() - h[0])
    if order == 1:
        return h / (-2.0 * (n * h).sum())
    smooth = half_kernel(poles, weights[0], sigma, length)
    h = h - smooth * (2.0 * h.sum() - h[0]) / (2.0 * smooth.sum() - smooth[0])
    return h / (n * n * h).sum()


def convolve_at(h, odd, f, x):
    """Returns the sum over n of h(n) f(x - n)."""
    n = numpy.arange(1, len(h))
    sign = -1.0 if odd else 1.0
    return h[0] * f(x) + (h[1:, None] * (f(x - n[:, None]) + sign * f(x + n[:, None]))).sum(axis=0)


def smoothing_error(poles, weights, sigma):
    """Returns the largest difference from the sampled Gaussian of sum 1, relative to its central value."""
    h = normalise(poles, weights, 0, sigma)
    g = numpy.exp(-0.5 * (numpy.arange(len(h)) / sigma) ** 2)
    g /= 2.0 * g.sum() - g[0]
    return numpy.abs(h - g).max() / g[0]


def blob_error(poles, weights, order, sigma):
    """Returns the largest error on Gaussian blobs of widths from max(1, sigma/4) to 4 sigma, offset from the pixel grid
    by 0, 1/4 and 1/2 pixel: the difference from the derivative that the exact filter gives, relative to its largest
    value."""
    h = normalise(poles, weights, order, sigma)
    narrowest = max(1.0, 0.25 * sigma)
    worst = 0.0
    for width in narrowest * numpy.geomspace(1.0, max(4.0 * sigma / narrowest, 2.0), 8):
        total = math.hypot(sigma, width)
        reach = math.ceil(5 * total)
        for shift in (0.0, 0.25, 0.5):
            x = numpy.arange(-reach, reach + 1) - shift
            y = convolve_at(h, order == 1, lambda z: numpy.exp(-0.5 * (z / width) ** 2), x)
            exact = derivative(order, x / total) * width / total ** (order + 1)
            worst = max(worst, numpy.abs(y - exact).max() / numpy.abs(exact).max())
    return worst


def step_overshoot(poles, weights, sigma):
    """Returns how far the response to a step leaves [0, 1]."""
    h = normalise(poles, weights, 0, sigma)
    whole = numpy.concatenate([h[:0:-1], h])
    response = numpy.cumsum(whole)
    return max(response.max() - 1.0, -response.min(), 0.0)


def effective_sigma(poles, weights, sigma):
    h = normalise(poles, weights, 0, sigma)
    n = numpy.arange(len(h))
    return math.sqrt(2.0 * (n * n * h).sum()) / sigma


# Values of sigma at which the error of order 0 is evaluated.
SMOOTHING_SIGMAS = tuple(numpy.geomspace(0.5, 100.0, 400))
SIGMAS = (0.5, 0.6, 0.8, 1.0, 1.25, 1.5, 2.0, 3.0, 4.0, 8.0, 20.0, 50.0)


def figures(poles, weights):
    return [
        {
            "sigma": sigma,
            "order0": smoothing_error(poles, weights, sigma),
            "order1_blobs": blob_error(poles, weights, 1, sigma),
            "order2_blobs": blob_error(poles, weights, 2, sigma),
            "step_overshoot": step_overshoot(poles, weights, sigma),
            "effective_sigma": effective_sigma(poles, weights, sigma),
        }
        for sigma in SIGMAS
    ]


def print_figures(rows):
    print("sigma   order 0   order 1   order 2   overshoot  effective sigma / sigma")
    for row in rows:
        print(f"{row['sigma']:5.2f}  {row['order0']:8.2e}  {row['order1_blobs']:8.2e}  {row['order2_blobs']:8.2e}  "
              f"{row['step_overshoot']:8.2e}  {row['effective_sigma']:.7f}")


def failures(errors, smoothing_errors, rows):
    """Returns a list of the goals that are missed."""
    missed = [f"order {k}: error {errors[k]:.2e}" for k in range(3) if not errors[k] <= GOALS[k]]
    missed += [f"sigma {sigma}: order 0, error {error:.2e}"
               for sigma, error in zip(SMOOTHING_SIGMAS, smoothing_errors) if not error <= GOALS[0]]
    for row in rows:
        derivatives = row["sigma"] >= 1.5  # below, the error is dominated by the sampling on the pixel grid
        if (not row["order0"] <= GOALS[0] or not row["step_overshoot"] <= 1e-5 or
                derivatives and not (row["order1_blobs"] <= GOALS[1] and row["order2_blobs"] <= GOALS[2])):
            missed.append(f"sigma {row['sigma']}: {row}")
    return missed


HEADER_TEXT = """// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_gaussian_plan_AccurateConstants_h
#define CudaFilters_gaussian_plan_AccurateConstants_h

// Written by tools/fit_gaussian_exponentials.py, which says what these are: half of the kernel of order k is
// Re sum_j AccurateAmplitude[k][j] exp(AccurateExponent[j] n / sigma), n >= 0, before normalisation.

namespace itk::cuda::gaussian
{{
constexpr unsigned int AccurateNumberOfPolePairs = {pairs};

/** Real and imaginary part. */
struct AccurateConstant
{{
  double Real;
  double Imaginary;
}};

// clang-format off
constexpr AccurateConstant AccurateExponent[AccurateNumberOfPolePairs] = {{
{poles}
}};
constexpr AccurateConstant AccurateAmplitude[3][AccurateNumberOfPolePairs] = {{
{weights}
}};
// clang-format on
}} // namespace itk::cuda::gaussian

#endif
"""


def make_header(poles, weights):
    def constant(z):
        return f"{{ {z.real:.17g}, {z.imag:.17g} }}"

    return HEADER_TEXT.format(
        pairs=PAIRS,
        poles=",\n".join("  " + constant(p) for p in poles),
        weights=",\n".join("  { " + ", ".join(constant(c) for c in row) + " }" for row in weights))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="check the committed files instead of fitting")
    arguments = parser.parse_args()

    if not arguments.check:
        poles, weights, errors = fit()
        table = {
            "poles": [[p.real, p.imag] for p in poles],
            "weights": [[[c.real, c.imag] for c in row] for row in weights],
            "errors": errors,
            "figures": figures(poles, weights),
        }
        TABLE.write_text(json.dumps(table, indent=1) + "\n")
        HEADER.write_text(make_header(poles, weights))

    table = json.loads(TABLE.read_text())
    poles = numpy.array([complex(*p) for p in table["poles"]])
    weights = [numpy.array([complex(*c) for c in row]) for row in table["weights"]]
    t = numpy.linspace(0.0, 9.0, 9001)
    errors = [numpy.abs((numpy.exp(numpy.outer(t, poles)) @ weights[k]).real - derivative(k, t)).max() / PEAKS[k]
              for k in range(3)]
    rows = figures(poles, weights)
    print("largest error of the continuous kernels, orders 0 to 2:", ", ".join(f"{e:.3g}" for e in errors))
    print_figures(rows)
    smoothing_errors = [smoothing_error(poles, weights, sigma) for sigma in SMOOTHING_SIGMAS]
    worst = int(numpy.argmax(smoothing_errors))
    print(f"order 0 at every sigma: {smoothing_errors[worst]:.3g} at {SMOOTHING_SIGMAS[worst]:.3g}")
    missed = failures(errors, smoothing_errors, rows)
    if HEADER.read_text() != make_header(poles, weights):
        missed.append(f"{HEADER.name} is not what the table gives: run this program without --check")
    for k in range(3):
        lhs, values = constraints(poles, k)
        off = numpy.abs(lhs @ numpy.concatenate([weights[k].real, weights[k].imag]) - values).max()
        if off > 1e-12:
            missed.append(f"order {k}: a moment is off by {off:.1e}")
    for line in missed:
        print("FAILED:", line)
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
