# SPDX-License-Identifier: Apache-2.0
"""The command itk-cudafilters: arguments, help, messages, streams, and its parts info and compare."""
import fcntl
import importlib.metadata
import json
import os
import pty
import re
import struct
import subprocess
import sys
import termios

import itk
import numpy as np
import pytest
from command import DATA, expect_failure, expect_wrong_arguments, keys_of_report, run, run_process
from interpreter import run_python
from scenes import SHAPE, SPACING, draw

import itk_cudafilters
from itk_cudafilters import Image, _command, _library, write_image


@pytest.fixture(scope="module")
def scene(tmp_path_factory):
    path = tmp_path_factory.mktemp("scene") / "in.mha"
    write_image(Image(draw("gamma"), SPACING), path)
    return path


LAW = ("--law", "gamma")
VESSELS = ("vesselness", "in.png", "out.mha", "--sigmas", "1")


@pytest.mark.parametrize(
    "arguments, message",
    [
        ((), "the following arguments are required: COMMAND"),
        (("sharpen",), "invalid choice: 'sharpen'"),
        (("smooth",), "the following arguments are required: IN, OUT, -s/--sigma"),
        (("smooth", "in.png", "out.png", "--sigma", "two"), "'two' is not a number greater than 0"),
        (("smooth", "in.png", "out.png", "--sigma", "0"), "'0' is not a number greater than 0"),
        (("smooth", "in.png", "out.png", "--sigma", "1,nan"), "'1,nan' is not a number greater than 0"),
        (("smooth", "in.png", "out.png", "--sigma", "1,,2"), "'1,,2' is not a number greater than 0, or several with commas between"),
        (("smooth", "in.png", "out.png", "--sigma", "2,"), "'2,' is not a number greater than 0"),
        (("smooth", "in.png", "out.png", "--sigma", "1", "--backend", "gpu"), '"gpu"; it must be one of automatic, cuda, host'),
        (("smooth", "in.png", "out.png", "--sigma", "1", "--approximation", "exact"), "one of accurate, deriche"),
        (("smooth", "in.png", "out.png", "--sigma", "1", "--boundary-mode", "edge"), "one of reflect, nearest, mirror, wrap, constant"),
        (("smooth", "in.png", "out.png", "--sigma", "1", "--boundary-value", "7"), "--boundary-value: it is for --boundary-mode constant"),
        (("smooth", "in.png", "out.png", "--sigma", "1", "--memory", "8Q"), "'8Q' is not a number of bytes above 0"),
        (("smooth", "in.png", "out.png", "--sigma", "1", "--memory", "1G", "--valid-mask", "m.png"), "not allowed with argument --memory"),
        (("smooth", "in.png", "out.png", "--sigma", "1", "--radius", "2"), "unrecognized arguments: --radius 2\n"),
        (("smooth", "in.png", "out.png", "--sig", "1"), "required: -s/--sigma"),
        (("smooth", DATA / "HeadT1Volume.nii.gz", "out.mha", "--sigma", "1,2"), "one for each of the 3 axes of the image"),
        (("segment", "in.png"), "the following arguments are required: --law"),
        (("segment", "in.png", "--law", "weibull"), '"weibull"; it must be one of gaussian'),
        (("segment", "in.png", *LAW, "--initial-region", "1,2,3"), "'1,2,3' is not X,Y,WIDTH,HEIGHT"),
        (("segment", "in.png", *LAW, "--initial-region", "a,b,c,d"), "'a,b,c,d' is not X,Y,WIDTH,HEIGHT"),
        (("segment", "in.png", *LAW, "--initial-region", "1,2,3,4", "--initial-mask", "m.png"), "not allowed with"),
        (("segment", "in.png", *LAW, "--initial-region", "1,2,3,4", "--initial-contour", "c.geojson"), "not allowed with"),
        (("segment", "in.png", *LAW, "--initial-region", "1,2,3,4", "--start", "margin_rectangle"), "not allowed with"),
        (("segment", "in.png", *LAW, "--overlay", "picture.svg"), "'picture.svg' is not the name of a file that ends in .png"),
        (("segment", "in.png", *LAW, "--schedule", "random"), "coarse_to_fine, as_published"),
        (("segment", "in.png", *LAW, "--start", "middle"), "automatic, margin_rectangle"),
        (("segment", "in.png", *LAW, "--maximum-step", "far"), "argument --maximum-step: 'far' is not a whole number"),
        (("segment", "in.png", *LAW, "--no-mdl"), "unrecognized arguments: --no-mdl"),
        (("segment", "in.png", "--law", "gaussian", "--looks", "3"), "argument --looks: it is for --law gamma and rayleigh"),
        (("segment", "in.png", *LAW, "--foreground-threshold", "1"), "--foreground-threshold: it is for --law bernoulli"),
        (("partition", "in.png"), "the following arguments are required: --law"),
        (("partition", "in.png", "--law", "cauchy"), '"cauchy"; it must be one of gaussian'),
        (("partition", "in.png", "--law", "poisson", "--number-of-looks", "3"), "argument --looks: it is for --law gamma and rayleigh"),
        (("partition", "in.png", *LAW, "--block-size", "four"), "'four' is not a whole number"),
        (("detect", "in.png"), "the following arguments are required: --law"),
        (("detect", "in.png", *LAW, "--guard-window", "3,5,7"), "'3,5,7' is not a number, or a width and a height"),
        (("detect", "in.png", *LAW, "--window-units", "feet"), '"feet"; it must be one of pixels, physical'),
        (("partition", "in.png", *LAW, "--polygons", "p.json", "--labels-only"), "not allowed with"),
        (("partition", "in.png", *LAW, "--overlay", "picture.svg"), "'picture.svg' is not the name"),
        (("vesselness", "in.png", "out.mha"), "the following arguments are required: --sigmas"),
        (("vesselness", "in.png", "out.mha", "--sigmas", "1,0"), "'1,0' is not a number greater than 0"),
        (("vesselness", "in.png", "out.mha", "--sigmas", "1", "2", "3"), "arguments: 2 3; several numbers have commas between: 1,2,3"),
        ((*VESSELS, "--measure", "ridge"), "objectness, frangi, sato, jerman, meijering"),
        ((*VESSELS, "--mip", "picture.svg"), "'picture.svg' is not the name"),
        ((*VESSELS, "--alpha", "much"), "'much' is not a number"),
        ((*VESSELS, "--tau", "0.2"), "argument --tau: it is for --measure jerman"),
        ((*VESSELS, "--measure", "sato", "--beta", "0.2"), "argument --beta: it is for --measure objectness and frangi"),
        (("compare", "--runs", "0"), "'0' is not a whole number of 1 or more"),
        (("compare", "in.png", "--size", "64"), "argument --size: not allowed with IN"),
        (("info", "--overides"), "unrecognized arguments: --overides"),
    ],
    ids=lambda value: " ".join(map(str, value))[-40:] if isinstance(value, tuple) else "",
)
def test_wrong_arguments(capsys, arguments, message):
    text = expect_wrong_arguments(capsys, *arguments)
    assert message in text and "--help' lists the arguments" in text


@pytest.mark.parametrize(
    "arguments",
    [
        ("smooth", "in.png", "out.png", "--sigma", "1", "--sigma", "2"),
        ("smooth", "in.png", "out.png", "--sigma", "1", "-s", "2"),
        ("smooth", "in.png", "out.png", "--sigma", "1", "--report=a", "--report=b"),
        ("segment", "in.png", "--law", "gamma", "--law", "rayleigh"),
        ("segment", "in.png", "--law", "gamma", "--use-description-length", "--no-use-description-length"),
        ("partition", "in.png", "--law", "gamma", "--looks", "1", "--number-of-looks", "1"),
        ("vesselness", "in.png", "out.mha", "--sigmas", "1", "--bright", "--dark"),
    ],
    ids=lambda value: " ".join(value[3:]),
)
def test_options_that_are_given_twice(capsys, arguments):
    assert "it is given more than once" in expect_wrong_arguments(capsys, *arguments)


OUT = ("out.mha", "--sigmas", "1")


@pytest.mark.parametrize(
    "part, options, message",
    [
        ("smooth", ("out.mha", "--sigma", "1", "--boundary-mode", "constant", "--boundary-value", "inf"), "--boundary-value is inf; it must be finite"),
        ("smooth", ("out.mha", "--sigma", "1e6"), "sigma 1e+06 is 2e+06 x 5e+05 pixels; --approximation deriche is inaccurate above 10000"),
        ("segment", (*LAW, "--inside-value", "256"), "--inside-value is 256; it must be an integer from 0 to 255"),
        ("segment", (*LAW, "--inside-value", "3", "--outside-value", "3"), "--inside-value is 3"),
        ("segment", (*LAW, "--inside-value", "0"), "--inside-value is 0"),
        ("segment", (*LAW, "--minimum-gain", "0"), "--minimum-gain is 0"),
        ("segment", (*LAW, "--maximum-step", "0"), "--maximum-step is 0"),
        ("segment", (*LAW, "--minimum-region-size", "0"), "--minimum-region-size is 0"),
        ("segment", (*LAW, "--looks", "-1"), "--looks is -1"),
        ("segment", (*LAW, "--initial-region", "-5,0,20,20"), "--initial-region is (-5, 0, 20, 20); it must be (x, y, width, height)"),
        ("segment", (*LAW, "--initial-region", "30,20,0,40"), "its width and height 1 or more"),
        ("segment", (*LAW, "--initial-region", "1,2,1000,3"), "in the image of 200 x 160 pixels"),
        ("partition", (*LAW, "--block-size", "-1"), "--block-size is -1; it must be an integer from 0"),
        ("partition", (*LAW, "--segment-cost=-1"), "--segment-cost is -1"),
        ("detect", (*LAW, "--target-window", "4"), "--target-window is 4 x 4; it must be of odd numbers of pixels"),
        ("detect", (*LAW, "--guard-window", "2.5"), "--guard-window is 2.5; it must be an integer from 1"),
        ("detect", (*LAW, "--probability-of-false-alarm", "1"), "--probability-of-false-alarm is 1; it must be above 0 and at most 0.1"),
        ("partition", (*LAW, "--segment-cost", "-1"), "--segment-cost is -1"),
        *(
            ("vesselness", (*OUT, f"--{name}", value), f"--{name} is {float(value)}; it must be finite and above 0")
            for name in ("alpha", "beta", "gamma")
            for value in ("nan", "inf", "0", "-1")
        ),
        ("vesselness", (*OUT, "--measure", "jerman", "--tau", "2"), "--tau is 2.0; it must be from 0 to 1"),
        ("vesselness", (*OUT, "--measure", "jerman", "--tau", "nan"), "--tau is nan; it must be from 0 to 1"),
        ("vesselness", (*OUT, "--object-dimension", "-1"), "--object-dimension is -1; it must be a whole number from 0 to 1"),
        ("vesselness", (*OUT, "--object-dimension", "2"), "--object-dimension is 2; it must be a whole number from 0 to 1"),
        ("vesselness", ("out.mha", "--sigmas", "1,1e5"), "--approximation deriche is inaccurate"),
    ],
    ids=lambda value: " ".join(value)[-40:] if isinstance(value, tuple) else value[:12],
)
def test_values_that_are_refused(capsys, tmp_path, monkeypatch, scene, part, options, message):
    """The message names the option, also where a function or the library refuses its value."""
    monkeypatch.chdir(tmp_path)
    text = expect_wrong_arguments(capsys, part, scene, *options)
    assert text.startswith(f"itk-cudafilters {part}: ") and message in text and not any(tmp_path.iterdir())


@pytest.mark.parametrize("part", ["smooth", "segment", "partition", "vesselness"])
def test_files_that_do_not_exist_and_devices_that_cannot_be_used(capsys, tmp_path, monkeypatch, scene, part):
    monkeypatch.chdir(tmp_path)
    options = {"smooth": ("out.mha", "--sigma", "1"), "vesselness": OUT}.get(part, ("--law", "gaussian"))
    assert "'none.png' does not exist or cannot be opened" in expect_failure(capsys, part, "none.png", *options)
    text = expect_failure(capsys, part, scene, *options, "--backend", "cuda", "--device-index", 1000)
    assert "cannot be used" in text or "there is no device" in text.lower() or "device" in text
    assert not any(tmp_path.iterdir())


def test_compare(capsys, tmp_path, scene, on_gpu):
    report, prefix = tmp_path / "report.json", tmp_path / "raw-"
    itk.SmoothingRecursiveGaussianImageFilter  # skips the test without ITK
    assert run("compare", scene, "--sigma", "2,4", "--runs", 2, "--report", report, "--raw", prefix) == 0
    printed = capsys.readouterr().out
    assert "200 x 160 pixels of float, sigma 2 x 4 = 4 x 2 pixels, medians of 2 runs" in printed and "ITK's filter: " in printed
    found = json.loads(report.read_text())
    assert set(found) == set(keys_of_report("compare"))
    assert found["sigma"] == [2.0, 4.0] and found["size"] == [200, 160] and found["runs"] == 2
    assert found["milliseconds"] > 0.0 and found["itk_milliseconds"] > 0.0
    assert bool(found["device"]) == on_gpu
    largest = float(draw("gamma").max())
    assert found["largest_difference_from_float32"] <= (2e-6 * largest if on_gpu else 0.0)
    assert 0.0 < found["largest_difference_from_float64"] <= 2e-6 * largest
    raw = {name: np.fromfile(f"{prefix}{name}.raw", np.float32).reshape(SHAPE) for name in ("input", "result", "difference")}
    np.testing.assert_array_equal(raw["input"], draw("gamma"))
    image = itk.image_from_array(draw("gamma"))
    image.SetSpacing(SPACING)
    expected = itk.array_from_image(itk.smoothing_recursive_gaussian_image_filter(image, sigma_array=[2.0, 4.0]))
    np.testing.assert_allclose(raw["result"], expected, rtol=0.0, atol=found["largest_difference_from_float32"])
    assert np.abs(raw["difference"]).max() == pytest.approx(found["largest_difference_from_float64"], rel=1e-6)


def test_compare_refuses_places_that_cannot_be_written(capsys, tmp_path, scene):
    """Before it measures; and what it writes it replaces, so that no part of a file remains."""
    itk.SmoothingRecursiveGaussianImageFilter  # skips the test without ITK
    said = expect_failure(capsys, "compare", scene, "--raw", tmp_path / "missing" / "raw-")
    assert "raw-input.raw' could not be written: there is no folder" in said
    (tmp_path / "raw-input.raw").write_bytes(b"before")
    (tmp_path / "raw-difference.raw").mkdir()
    assert "it is a folder" in expect_failure(capsys, "compare", scene, "--raw", tmp_path / "raw-")
    assert (tmp_path / "raw-input.raw").read_bytes() == b"before" and not (tmp_path / "raw-result.raw").exists()


def test_compare_without_an_image(capsys, tmp_path):
    itk.SmoothingRecursiveGaussianImageFilter  # skips the test without ITK
    assert run("compare", "--size", 16, "--runs", 1, "--sigma", "1,2,3", "--report", tmp_path / "report.json") == 0
    assert "16 x 16 x 16 pixels" in capsys.readouterr().out
    found = json.loads((tmp_path / "report.json").read_text())
    assert found["input"] is None and found["sigma"] == [1.0, 2.0, 3.0] and found["spacing"] == [1.0, 1.0, 1.0]


def test_compare_without_the_package_itk():
    program = "import sys; sys.modules['itk'] = None; from itk_cudafilters._command import main; sys.exit(main(['compare', '--size', '8']))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=300)
    assert done.returncode == 1
    assert done.stderr.startswith("itk-cudafilters compare: this needs the package itk, which is not installed: pip install 'itk==5.4.*'")


def test_info(capsys):
    assert run("info") == 0
    assert capsys.readouterr().out == str(itk_cudafilters.info())


def test_overrides(capsys):
    itk.CudaGaussianImageFilterFactory  # skips the test without the wrapped classes
    assert run("info", "--overrides") == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) > 200 and lines == sorted(lines)
    assert "SmoothingRecursiveGaussianImageFilter<Image<float, 3>, Image<float, 3>>" in lines
    assert "LaplacianRecursiveGaussianImageFilter<Image<short, 3>, Image<float, 3>>" in lines  # an output type of its own


@pytest.mark.parametrize("arguments", [("--version",), ("smooth", "--version"), ("segment", "--version")])
def test_version(capsys, arguments):
    with pytest.raises(SystemExit) as end:
        run(*arguments)
    assert end.value.code == 0
    expected = f"itk-cudafilters {itk_cudafilters.__version__}, ITK {_library.core().itk_version}\n"
    assert capsys.readouterr().out == expected


@pytest.mark.parametrize("part", _command.PARTS)
def test_help(capsys, part):
    with pytest.raises(SystemExit) as end:
        run(part, "--help")
    assert end.value.code == 0
    text = " ".join(capsys.readouterr().out.split())
    assert text.startswith(f"usage: itk-cudafilters {part}")
    if part == "info":
        assert "ITK_CUDAFILTERS_DEVICE" in text
        return
    assert "physical units" in text.lower() and "millimetres" in text and "(default: automatic)" in text
    if part in ("segment", "partition"):
        assert all(f"{name} ({law.description})" in text for name, law in itk_cudafilters.noise_laws().items())
        assert "number of independent looks per pixel, for the laws gamma and rayleigh" in text
    if part == "segment":
        assert "(default: coarse_to_fine)" in text and "in nats (default: 1e-06)" in text and "in its middle (default: 32)" in text
    if part == "vesselness":
        assert "--bright, --dark" in text and "--mip FILE.png" in text and "objectness: lines, blobs or plates" in text


def test_help_of_all(capsys):
    with pytest.raises(SystemExit) as end:
        run("--help")
    assert end.value.code == 0
    text = capsys.readouterr().out
    assert all(re.search(rf"(?m)^    {part}\b", text) for part in ("smooth", "segment", "partition", "detect", "vesselness", "compare", "info"))


def modules_after(*arguments):
    """The modules that a process has loaded after the command."""
    program = (
        "import sys; from itk_cudafilters._command import main\n"
        f"try: main({[str(argument) for argument in arguments]!r})\n"
        "except SystemExit: pass\n"
        "print('modules', *sys.modules)"
    )
    return set(run_python(program).rpartition("modules ")[2].split())


def test_a_part_loads_what_it_uses(tmp_path, scene):
    found = modules_after("--help")
    assert not {"numpy", "itk_cudafilters._library", "itk_cudafilters._command.smooth"} & found
    of_package = {"smooth": "_gaussian", "vesselness": "_vesselness", "segment": "_segmentation", "partition": "_partition", "detect": "_detection"}
    for part, own in of_package.items():
        found = modules_after(part, "--help")
        assert f"itk_cudafilters.{own}" in found and f"itk_cudafilters._command.{part}" in found
        others = {f"itk_cudafilters._command.{other}" for other in _command.PARTS} - {f"itk_cudafilters._command.{part}"}
        assert not found & {*others, "itk_cudafilters.stream", "itk_cudafilters._override", "itk_cudafilters._structure_tensor"}
    found = modules_after("smooth", scene, tmp_path / "out.mha", "--sigma", 1)
    assert (tmp_path / "out.mha").exists()
    not_used = ("_vesselness", "_segmentation", "_partition", "_files", "_file_parts", "_pictures", "stream")
    assert not found & {"itk", "scipy", "tqdm", *(f"itk_cudafilters.{name}" for name in not_used)}


PARTS_ON_A_FILE = {
    "smooth": ("{}.mha", "--sigma", "1"),
    "segment": ("--law", "gamma"),
    "partition": ("--law", "gamma", "--labels-only"),
    "detect": ("--law", "gamma", "--looks", "1"),
    "vesselness": ("{}.mha", "--sigmas", "1"),
}


def options_of(part, output):
    return [str(option).format(output) for option in PARTS_ON_A_FILE[part]]


@pytest.mark.parametrize("package", ["tqdm", None])
def test_progress_is_shown_on_a_terminal(tmp_path, scene, package):
    if package:
        pytest.importorskip(package)
    else:
        package = "no_such_package"
    program = f"import sys; {'' if package == 'tqdm' else 'sys.modules.update(tqdm=None); '}from itk_cudafilters._command import main; sys.exit(main())"
    for part, name in (("smooth", "smoothing"), ("segment", "segment_region"), ("partition", "partition_image"), ("detect", "detect_targets"),
                       ("vesselness", "enhancing")):
        ours, its = pty.openpty()
        fcntl.ioctl(its, termios.TIOCSWINSZ, struct.pack("4H", 24, 80, 0, 0))
        words = [sys.executable, "-c", program, part, scene, *options_of(part, tmp_path / part)]
        with subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=its) as process:
            os.close(its)
            shown = b""
            while True:
                try:
                    data = os.read(ours, 1 << 16)
                except OSError:  # the other end is closed
                    break
                if not data:
                    break
                shown += data
            assert process.wait() == 0
        os.close(ours)
        assert re.search(rf"{name}.* 100%|{name}: 100%", shown.decode()), (part, shown)


def test_progress_is_not_shown_elsewhere(capfd, tmp_path, scene):
    for part in PARTS_ON_A_FILE:
        assert run(part, scene, *options_of(part, tmp_path / part)) == 0
        assert capfd.readouterr().err == ""


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8:surrogateescape"])  # some systems choose the latter by default
def test_names_that_are_not_utf8(tmp_path, monkeypatch, encoding):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONIOENCODING", encoding)
    name = b"\xe9.png".decode("utf-8", "surrogateescape")
    write_image((draw("gamma") + 1).clip(1, 255).astype(np.uint8), name)
    for part in PARTS_ON_A_FILE:
        assert run_process(part, name, *options_of(part, part), "--report", "report.json").returncode == 0
        found = json.loads((tmp_path / "report.json").read_text(encoding="utf-8"))
        assert found["input"] == "\ufffd.png"


@pytest.mark.parametrize("name", ["/dev/stdout", "-"])
@pytest.mark.parametrize("part", PARTS_ON_A_FILE)
def test_reports_on_the_standard_output(tmp_path, scene, part, name):
    done = run_process(part, scene, *options_of(part, tmp_path / part), "--report", name, text=True)
    assert done.returncode == 0
    found = json.loads(done.stdout)
    assert set(found) == set(keys_of_report(part)) and f"with backend {found['backend_used']} in" in done.stderr
    assert not (tmp_path / "-").exists()


def test_documents_on_the_standard_output_and_in_pipes(tmp_path, scene):
    """A file that is the standard output keeps what is in it already."""
    for options in (("segment", "--contour"), ("partition", "--polygons")):
        done = run_process(options[0], scene, *LAW, options[1], "-", text=True)
        assert done.returncode == 0 and json.loads(done.stdout)["type"] == "FeatureCollection"
    done = run_process("partition", scene, *LAW, "--table", "/dev/stdout", text=True)
    assert done.returncode == 0 and done.stdout.startswith("region,pixels,mean,")
    with open(tmp_path / "log", "w") as log:
        log.write("first\n")
        log.flush()
        done = run_process("segment", scene, *LAW, "--report", "-", capture_output=False, stdout=log, stderr=subprocess.DEVNULL)
    assert done.returncode == 0
    first, report = (tmp_path / "log").read_text().split("\n", 1)
    assert first == "first" and json.loads(report)["law"] == "gamma"
    assert run("segment", scene, *LAW, "--report", "/dev/null") == 0
    os.mkfifo(tmp_path / "pipe")
    words = [sys.executable, "-c", f"print(open({str(tmp_path / 'pipe')!r}).read())"]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as reader:
        assert run("segment", scene, *LAW, "--report", tmp_path / "pipe") == 0
        assert json.loads(reader.communicate(timeout=60)[0])["law"] == "gamma"


def test_a_standard_output_that_cannot_be_written(tmp_path, scene):
    if not os.path.exists("/dev/full"):
        pytest.skip("needs /dev/full")
    with open("/dev/full", "w") as full:
        done = run_process("smooth", scene, tmp_path / "out.mha", "--sigma", 1, capture_output=False, stdout=full, stderr=subprocess.PIPE, text=True)
    assert done.returncode == 1
    assert done.stderr == "itk-cudafilters smooth: the standard output could not be written: No space left on device\n"


def test_module_runs_the_command(tmp_path):
    brain = DATA / "BrainProtonDensitySlice.png"
    done = subprocess.run(
        [sys.executable, "-m", "itk_cudafilters", "smooth", brain, tmp_path / "out.png", "--sigma", "2"],
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    assert "smoothed with backend " in done.stdout and (tmp_path / "out.png").is_file()


def test_entry_point():
    (entry,) = importlib.metadata.entry_points(group="console_scripts", name="itk-cudafilters")
    assert entry.load() is _command.main


def test_package_does_not_load_the_command():
    code = "import sys, itk_cudafilters; print([name for name in sys.modules if name in ('itk_cudafilters._command', 'argparse', 'numpy')])"
    assert run_python(code) == "[]\n"


def test_names_of_the_package_are_loaded_when_they_are_used():
    assert {"gaussian_filter", "ndimage", "__version__"} <= {*dir(itk_cudafilters), "__version__"}
    for name in itk_cudafilters.__all__:
        assert getattr(itk_cudafilters, name) is not None
    with pytest.raises(AttributeError, match="module 'itk_cudafilters' has no attribute 'gausian_filter'"):
        itk_cudafilters.gausian_filter
