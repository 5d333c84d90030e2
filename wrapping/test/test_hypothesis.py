# SPDX-License-Identifier: Apache-2.0
"""Random arrays, layouts and arguments that hypothesis makes and shrinks, with scipy.ndimage as the reference.

conftest.py has the profiles: the cases are the same in every run, and `pytest --hypothesis-profile=long wrapping/test/test_hypothesis.py` tries
100,000 others of each test."""
import numpy as np
import pytest

pytest.importorskip("hypothesis")
scipy = pytest.importorskip("scipy.ndimage")
from hypothesis import assume, given  # noqa: E402
from hypothesis import strategies as st  # noqa: E402
from hypothesis.extra import numpy as hnp  # noqa: E402

import itk_cudafilters  # noqa: E402
from itk_cudafilters import ndimage  # noqa: E402

pytestmark = pytest.mark.usefixtures("host_allowed")

MODES = ("reflect", "nearest", "mirror", "wrap", "constant")
FLOATS = ("float16", "float32", "float64")
INTEGERS = ("bool", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64")
# The kernel differs from the Gaussian by at most 8.1e-6 of its centre (docs/developer/numerics.md). Within eight sigma on either side, where
# scipy cuts it, the sum of these differences is below 8.1e-6 * 16 / sqrt(2 pi) of the sum of the kernel.
KERNEL = 8.1e-6 * 16.0 / np.sqrt(2.0 * np.pi)
# Of derivatives of smooth arrays, by order: as in test_gaussian_functions.py.
BOUND = (2e-5, 2e-4, 1e-3)


def pixels(kind, seed, shape, dtype):
    """Noise over the range of the type, one value, a single pixel, or values of very different sizes."""
    rng = np.random.default_rng(seed)
    dtype = np.dtype(dtype)
    if dtype.kind == "f":
        largest = {2: 1e2, 4: 1e15, 8: 1e100}[dtype.itemsize]
        values = {
            "noise": lambda: rng.normal(size=shape),
            "constant": lambda: np.full(shape, rng.normal()),
            "single": lambda: (np.arange(np.prod(shape)) == rng.integers(np.prod(shape))).reshape(shape) * largest,
            "sizes": lambda: rng.normal(size=shape) * np.exp(rng.uniform(0.0, np.log(largest), shape)),
        }[kind]()
        return values.astype(dtype)
    lowest, highest = (0, 1) if dtype == bool else (np.iinfo(dtype).min, np.iinfo(dtype).max)
    values = rng.integers(lowest, highest, shape, np.int64 if lowest < 0 else np.uint64, endpoint=True)
    if kind == "constant":
        values[...] = values.flat[0] if values.size else 0
    elif kind == "single":
        values = np.where(np.arange(values.size).reshape(shape) == values.size // 2, values, values.dtype.type(0))
    elif kind == "sizes":
        values >>= rng.integers(0, 8 * dtype.itemsize, shape).astype(values.dtype)
    return values.astype(dtype)


@st.composite
def arrays(draw, dtypes=(*FLOATS, *INTEGERS), dimensions=(1, 4), sides=(1, 15)):
    shape = draw(hnp.array_shapes(min_dims=dimensions[0], max_dims=dimensions[1], min_side=sides[0], max_side=sides[1]))
    kind = draw(st.sampled_from(("noise", "constant", "single", "sizes")))
    return pixels(kind, draw(st.integers(0, 2**32 - 1)), shape, draw(st.sampled_from(dtypes)))


class Subclass(np.ndarray):
    """An array of another class, as those of astropy or pint."""


def unaligned(array):
    memory = np.zeros(array.nbytes + 1, np.uint8)
    view = memory[1:].view(array.dtype).reshape(array.shape)
    view[...] = array
    return view


def with_gaps(array, axis, step):
    """A view with every step-th index of an axis, from its end for a negative step."""
    axis %= array.ndim
    shape = list(array.shape)
    shape[axis] *= abs(step)
    memory = np.ones(shape, array.dtype)
    view = memory[tuple(slice(None, None, step) if other == axis else slice(None) for other in range(array.ndim))]
    view[...] = array
    return view


def read_only(array):
    view = array.view()
    view.flags.writeable = False
    return view


# Other objects with the values of an array.
LAYOUTS = {
    "Fortran": np.asfortranarray,
    "gaps in the first axis": lambda array: with_gaps(array, 0, 3),
    "gaps in the last axis": lambda array: with_gaps(array, -1, 2),
    "reversed": lambda array: with_gaps(array, -1, -1),
    "reversed with gaps": lambda array: with_gaps(array, 0, -2),
    "transposed": lambda array: np.ascontiguousarray(array.T).T,
    "bytes in the other order": lambda array: array.astype(array.dtype.newbyteorder("S")),
    "read-only": read_only,
    "subclass": lambda array: array.view(Subclass),
    "odd address": unaligned,
    "of a buffer": lambda array: np.frombuffer(array.tobytes(), array.dtype).reshape(array.shape),
    "list": lambda array: array.tolist() if array.dtype == np.float64 else array,
}
FUNCTIONS = {
    "gaussian_filter": (1, lambda array: itk_cudafilters.gaussian_filter(array, 1.3, mode="mirror")),
    "derivative": (1, lambda array: itk_cudafilters.gaussian_filter(array, 1.3, order=1, mode="constant", cval=2.0)),
    "gaussian_gradient_magnitude": (1, lambda array: itk_cudafilters.gaussian_gradient_magnitude(array, 1.1)),
    "gaussian_laplace": (1, lambda array: itk_cudafilters.gaussian_laplace(array, 1.1, mode="wrap")),
    "gaussian_hessian": (1, lambda array: itk_cudafilters.gaussian_hessian(array, 1.1)),
    "difference_of_gaussians": (1, lambda array: itk_cudafilters.difference_of_gaussians(array, 1.0, 2.0)),
    "structure_tensor": (2, lambda array: itk_cudafilters.structure_tensor(array, 1.0)),
    "vesselness": (2, lambda array: itk_cudafilters.vesselness(array, (1.0, 2.0), "frangi")),
}


def same_bits(a, b):
    return a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()


@pytest.mark.parametrize("name", FUNCTIONS)
@given(data=st.data())
def test_results_depend_on_the_values_alone(name, data):
    """Whatever holds the values, the bits of the result are the same, and the values stay."""
    axes, function = FUNCTIONS[name]
    dtypes = (*FLOATS, *INTEGERS) if axes == 1 else ("float32", "float64", "uint8", "int16")
    array = data.draw(arrays(dtypes, dimensions=(axes, 3), sides=(1 if axes == 1 else 4, 11)))
    other = LAYOUTS[data.draw(st.sampled_from(sorted(LAYOUTS)))](array)
    before = np.array(other)
    with np.errstate(all="ignore"):
        expected, found = function(np.ascontiguousarray(array)), function(other)
    assert same_bits(found, expected)
    assert type(found) is np.ndarray
    assert same_bits(np.array(other), before)


def sigmas(count):
    """0, which leaves an axis as it is, and values from half a pixel on, for which the bound of the kernel holds."""
    one = st.one_of(st.just(0.0), st.floats(0.5, 6.0))
    return st.one_of(one, st.lists(one, min_size=count, max_size=count))


def modes(count):
    return st.one_of(st.sampled_from(MODES), st.lists(st.sampled_from(MODES), min_size=count, max_size=count))


@given(data=st.data())
def test_smoothing_is_that_of_scipy(data):
    array = data.draw(arrays())
    options = dict(
        sigma=data.draw(sigmas(array.ndim)), mode=data.draw(modes(array.ndim)), cval=data.draw(st.floats(-100.0, 100.0))
    )
    found = itk_cudafilters.gaussian_filter(array, **options)
    assert found.dtype == (array.dtype if array.dtype.kind == "f" else np.float32) and found.shape == array.shape
    expected = scipy.gaussian_filter(array.astype(np.float64), **options, truncate=8.0)
    largest = max(np.abs(array.astype(np.float64)).max(), abs(options["cval"]) if "constant" in options["mode"] else 0.0)
    # Half precision is computed in float, and rounded in the end.
    bound = largest * (array.ndim * KERNEL + 2.0 * np.finfo(found.dtype).eps)
    np.testing.assert_allclose(found.astype(np.float64), expected, rtol=0.0, atol=bound)


@given(data=st.data())
def test_smoothing_along_some_axes_is_that_of_each_item(data):
    array = data.draw(arrays(FLOATS, dimensions=(2, 4), sides=(1, 9)))
    axes = data.draw(st.lists(st.integers(0, array.ndim - 1), min_size=1, max_size=array.ndim - 1, unique=True))
    signed = [axis - data.draw(st.sampled_from((0, array.ndim))) for axis in axes]
    sigma = data.draw(st.lists(st.floats(0.5, 3.0), min_size=len(axes), max_size=len(axes)))
    found = itk_cudafilters.gaussian_filter(array, sigma, axes=tuple(signed))
    # The axes of an item are those that are filtered, and they are filtered in the order in which they are named.
    rest, kept = [axis for axis in range(array.ndim) if axis not in axes], sorted(axes)
    items, results = (np.moveaxis(each, [*rest, *kept], range(array.ndim)) for each in (array, found))
    for place in np.ndindex(items.shape[: len(rest)]):
        item = np.ascontiguousarray(items[place])
        alone = itk_cudafilters.gaussian_filter(item, sigma, axes=[kept.index(axis) for axis in axes])
        assert same_bits(np.ascontiguousarray(results[place]), alone)


@given(data=st.data())
def test_pixels_without_a_value_are_left_out(data):
    """The result is the quotient of the smoothed valid pixels and of their smoothed mask."""
    array = data.draw(arrays(("float32", "float64"), dimensions=(1, 3)))
    assume(np.abs(array).max() < 1e18)
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32 - 1)))
    lost = rng.random(array.shape) < data.draw(st.floats(0.0, 0.9))
    array[lost] = rng.choice([np.nan, np.inf, -np.inf], lost.sum())
    sigma, mode = data.draw(st.floats(0.7, 4.0)), data.draw(st.sampled_from(MODES[:4]))
    found = itk_cudafilters.gaussian_filter(array, sigma, mode=mode)
    np.testing.assert_array_equal(np.isnan(found[lost]), True)
    values = np.where(lost, 0.0, array).astype(np.float64)
    weight = scipy.gaussian_filter((~lost).astype(np.float64), sigma, mode=mode, truncate=8.0)
    sure = ~lost & (weight > 2e-3)
    expected = scipy.gaussian_filter(values, sigma, mode=mode, truncate=8.0)[sure] / weight[sure]
    # Numerator and denominator each have the error of the kernel, beside a denominator of at most one.
    bound = 2.0 * np.abs(values).max(initial=0.0) * (array.ndim * KERNEL + 4.0 * np.finfo(array.dtype).eps) / weight[sure]
    assert (np.abs(found[sure] - expected) <= bound).all()


@given(data=st.data())
def test_derivatives_of_smooth_arrays_are_those_of_scipy(data):
    mode = data.draw(st.sampled_from(MODES))
    array = scipy.gaussian_filter(data.draw(arrays(("float64",), dimensions=(1, 3), sides=(1, 20))), 1.0, mode=mode)
    order = data.draw(st.lists(st.integers(0, 2), min_size=array.ndim, max_size=array.ndim))
    sigma = data.draw(st.floats(2.0, 4.0))
    found = itk_cudafilters.gaussian_filter(array, sigma, order, mode=mode)
    expected = scipy.gaussian_filter(array, sigma, order, mode=mode, truncate=8.0)
    # A derivative of order n is at most of the size of the values divided by sigma^n. Each axis adds the error of its order.
    bound = sum(BOUND[each] for each in order) * np.abs(array).max() / sigma ** sum(order)
    np.testing.assert_allclose(found, expected, rtol=0.0, atol=2.0 * bound)


@pytest.mark.parametrize("name", ndimage.__all__)
@given(data=st.data())
def test_types_of_ndimage_are_those_of_scipy(name, data):
    """Types, shapes and the object that is returned, for inputs and outputs of all types. Integers may differ by what scipy cuts off between the
    axes."""
    own, other = getattr(ndimage, name), getattr(scipy, name)
    array = data.draw(arrays(("float32", "float64", "uint8", "int16", "int32", "int64"), dimensions=(1, 3), sides=(1, 9)))
    sigma = data.draw(st.floats(1.0, 3.0))
    output = data.draw(st.sampled_from((None, np.float32, "float64", float, np.dtype(">f4"), "array")))
    given_array = np.empty(array.shape, np.float64) if output == "array" else None
    with np.errstate(all="ignore"):
        found = own(array, sigma, output=given_array if output == "array" else output)
        expected = other(array, sigma, output=np.empty(array.shape, np.float64) if output == "array" else output)
    assert found.shape == expected.shape and found.dtype == expected.dtype
    assert output != "array" or found is given_array
    if name.startswith("gaussian_filter") and found.dtype.kind == "f":
        largest = np.abs(array.astype(np.float64)).max()
        assume(largest < np.finfo(found.dtype).max)
        expected = other(array.astype(np.float64), sigma, truncate=8.0)
        bound = largest * (array.ndim * KERNEL + 4.0 * np.finfo(found.dtype).eps)
        np.testing.assert_allclose(found.astype(np.float64), expected, rtol=0.0, atol=bound)


NUMBERS = st.one_of(st.integers(-(2**70), 2**70), st.floats(), st.booleans(), st.just(np.float16(2.0)), st.complex_numbers())
ANYTHING = st.one_of(
    st.none(), NUMBERS, st.text(max_size=6), st.binary(max_size=4), st.lists(st.one_of(NUMBERS, st.none(), st.text(max_size=2)), max_size=5),
    st.dictionaries(st.text(max_size=2), NUMBERS, max_size=2), st.just(object()), st.just(np.ma.masked), st.just(np.zeros(0)), st.just(...),
)
PARAMETERS = ("sigma", "order", "mode", "cval", "axes", "channel_axis", "spacing", "fwhm", "valid_mask", "preserve_nan", "dtype", "output")


@given(data=st.data())
def test_any_arguments_give_a_result_or_a_message(data):
    """Values of any kind are refused by an exception with a message, or give an array of the right shape; the next call has the bits that it had."""
    array = pixels("noise", 3, data.draw(st.sampled_from([(7,), (5, 6), (2, 3, 4)])), "float32")
    expected = itk_cudafilters.gaussian_filter(array, 1.5)
    names = data.draw(st.lists(st.sampled_from(PARAMETERS), min_size=1, max_size=3, unique=True))
    arguments = {name: data.draw(ANYTHING, label=name) for name in names}
    arguments.setdefault("sigma", 1.5)
    try:
        with np.errstate(all="ignore"):
            found = itk_cudafilters.gaussian_filter(array, **arguments)
    except (TypeError, ValueError, OverflowError) as error:
        assert len(str(error)) > 10, repr(error)
    else:
        assert found.shape == array.shape
    assert same_bits(itk_cudafilters.gaussian_filter(array, 1.5), expected)


class Liar:
    """An object whose protocols say something that is not so, or fail."""

    def __init__(self, **attributes):
        self.attributes = attributes

    def __getattr__(self, name):
        found = self.__dict__["attributes"].get(name, AttributeError(name))
        if isinstance(found, Exception):
            raise found
        return found


def lie(*arguments, **options):
    """A capsule of another kind than the one that is asked for."""
    import datetime

    return datetime.datetime_CAPI


ANSWERS = st.one_of(
    st.sampled_from([ValueError("no"), BufferError("no"), RuntimeError("no"), AttributeError("no")]),
    st.builds(lambda value: lambda *arguments, **options: value, ANYTHING),
    st.builds(lambda a, b: lambda *arguments, **options: (a, b), st.integers(-3, 20), st.integers(-3, 20)),
    st.just(lie),
)
INTERFACES = st.one_of(
    ANYTHING,
    st.fixed_dictionaries(
        {
            "shape": st.lists(st.integers(-2, 4), max_size=3).map(tuple),
            "typestr": st.sampled_from(["<f4", ">f4", "|O", "<f3", "", 3]),
            "data": st.sampled_from([(0, False), (0, True), (None, False), (2**64, False), 5, ("a", 1)]),
            "version": st.integers(-1, 9),
        },
        optional={"strides": st.one_of(st.none(), st.lists(st.integers(-9, 9), max_size=3).map(tuple)), "stream": ANYTHING, "mask": ANYTHING},
    ),
)


@given(
    attributes=st.fixed_dictionaries(
        {}, optional={"__dlpack__": ANSWERS, "__dlpack_device__": ANSWERS, "__cuda_array_interface__": INTERFACES, "shape": ANYTHING, "dtype": ANYTHING}
    )
)
def test_objects_that_lie_about_themselves_are_refused(attributes):
    """Special methods are looked up at the class, so each liar has one of its own."""
    methods = {
        name: property(lambda self, answer=answer: self.attributes["x"]) if isinstance(answer, Exception) else answer
        for name, answer in attributes.items()
    }
    liar = type("Liar", (Liar,), methods)(x=ValueError("no"))
    array = pixels("noise", 4, (5, 6), "float32")
    expected = itk_cudafilters.gaussian_filter(array, 1.5)
    for function in (lambda: itk_cudafilters.gaussian_filter(liar, 1.5), lambda: itk_cudafilters.gaussian_filter(array, 1.5, valid_mask=liar)):
        with pytest.raises((TypeError, ValueError, BufferError, RuntimeError, OverflowError, AttributeError)) as caught:
            function()
        assert str(caught.value)
    assert same_bits(itk_cudafilters.gaussian_filter(array, 1.5), expected)


def test_masked_arrays_are_refused():
    masked = np.ma.masked_greater(pixels("noise", 5, (5, 6), "float32"), 1.0)
    with pytest.raises(TypeError, match="mask"):
        itk_cudafilters.gaussian_filter(masked, 1.5)
