#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests of scripts: which stages test.sh starts, what it counts and what it remembers, where the stages are a program that obeys a
list; what remote-module.sh writes for ITK; and that the units named by gpu-sanitize.sh exist."""
import fnmatch
import json
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

SCRIPTS = pathlib.Path(__file__).resolve().parent.parent / "scripts"
STAGES = ("format", "cpu", "pip", "site", "cuda", "wheel", "module", "upstream")
# answers.txt has lines STAGE IS_CACHED EXIT_STATUS LAST_LINE; calls.txt gets a line for each stage that is run.
FAKE_STAGE = """\
#!/usr/bin/env bash
folder=$(dirname "$0")
read -r _ cached status line < <(grep "^$1 " "$folder/answers.txt")
[ "${2:-}" != --is-cached ] || exit "$cached"
echo "$*" >> "$folder/calls.txt"
[ "$status" -ne 124 ] || sleep 60 # a stage that does not end in time
echo "$line"
exit "$status"
"""


class StagesTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.scripts = pathlib.Path(folder.name) / "scripts"
        self.cache = pathlib.Path(folder.name) / "cache"
        self.durations = self.cache / "itk-cudafilters/test-durations.txt"
        self.durations.parent.mkdir(parents=True)
        self.scripts.mkdir()
        for name in ("test.sh", "common.sh"):
            shutil.copy(SCRIPTS / name, self.scripts)
        stage = self.scripts / "test-stage.sh"
        stage.write_text(FAKE_STAGE)
        stage.chmod(0o755)
        self.answers = {stage: "0 0 10 passed, 0 failed, 2 skipped" for stage in ("unit", *STAGES)}

    def run_script(self, *options):
        """Runs all stages, or those that the options name."""
        return self.run_script_as_it_is(*(options if set(options) & set(self.answers) else ("--all", *options)))

    def run_script_as_it_is(self, *options):
        """Returns (exit status, output, the stages that were run with their options)."""
        (self.scripts / "answers.txt").write_text("".join(f"{stage} {answer}\n" for stage, answer in self.answers.items()))
        calls = self.scripts / "calls.txt"
        calls.write_text("")
        process = subprocess.run(
            [str(self.scripts / "test.sh"), "--no-install", *options],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env=dict(os.environ, XDG_CACHE_HOME=str(self.cache)),
            check=False,
        )
        return process.returncode, process.stdout.decode(), calls.read_text().splitlines()

    def records(self):
        return [line.split() for line in self.durations.read_text().splitlines()]

    def test_all_stages_pass(self):
        status, output, calls = self.run_script()
        self.assertEqual(status, 0, output)
        self.assertEqual(calls, [f"{stage} --no-install" for stage in STAGES])
        self.assertTrue(output.endswith("100% tests passed, 0 tests failed out of 80\n80 passed, 0 failed, 16 skipped\n"), output)
        self.assertEqual([(stage, state, tests) for stage, state, _, tests in self.records()], [(s, "cold", "12") for s in STAGES])

    def test_second_run_is_warm_where_itk_is_in_the_cache(self):
        self.run_script()
        self.answers["wheel"] = self.answers["wheel"].replace("0 0", "3 0")
        self.run_script()
        states = {stage: {state for name, state, *_ in self.records() if name == stage} for stage in STAGES}
        self.assertEqual(states.pop("wheel"), {"cold", "bare"})
        self.assertEqual(set(map(frozenset, states.values())), {frozenset({"cold", "warm"})})
        self.assertEqual(len(self.records()), 16)  # one of each kind

    def test_stage_counts_an_itk_that_is_not_in_the_cache(self):
        self.durations.write_text("upstream cold 4700 35\n")
        self.assertIn("upstream --no-install", self.run_script()[2])
        self.durations.write_text("upstream cold 4700 35\n")
        self.answers["upstream"] = self.answers["upstream"].replace("0 0", "3 0")
        status, output, calls = self.run_script()
        self.assertEqual(status, 0, output)
        self.assertNotIn("upstream --no-install", calls)
        self.assertIn("NOT RUN: ITK's own tests with this module's filters: it takes about 86 minutes where ", output)

    def test_stage_that_would_not_end_in_time_is_not_started(self):
        self.durations.write_text("wheel cold 5100 120\nmodule warm 4000 600\nupstream cold 4000 35\nupstream warm 20 35\n")
        self.answers["upstream"] = self.answers["upstream"].replace("0 0", "3 0")  # so that it would build an ITK first
        self.answers["cpu"] = "0 0 1 passed, 0 failed, 0 skipped"
        status, output, calls = self.run_script()
        self.assertEqual(status, 0, output)
        self.assertEqual([call.split()[0] for call in calls], ["format", "cpu", "pip", "site", "cuda", "module", "upstream"])
        self.assertIn("NOT RUN: Python package: it takes about 86 minutes where ", output)
        self.assertIn("120 tests count as skipped", output)
        self.assertTrue(output.endswith("61 passed, 0 failed, 132 skipped\n"), output)
        self.assertIn(["wheel", "cold", "5100", "120"], self.records())  # nothing new is known of it

    def test_stage_that_has_not_ended_in_time_is_stopped(self):
        self.durations.write_text("".join(f"{stage} cold 1 7\n" for stage in STAGES))
        self.answers["module"] = "0 124 -"
        status, output, calls = self.run_script("--time-limit", "8")
        self.assertEqual(status, 0, output)
        self.assertEqual([call.split()[0] for call in calls], list(STAGES[:7]))
        self.assertIn("NOT RUN: Build as a module beside an ITK build tree: it was stopped at the time limit of 8 s", output)
        self.assertTrue(output.endswith("60 passed, 0 failed, 26 skipped\n"), output)
        self.assertIn(["module", "cold", "1", "7"], self.records())  # nothing new is known of it
        for wrong in ("0", "-5", "soon", ""):
            status, output, _ = self.run_script("--time-limit", wrong)
            self.assertEqual(status, 1)
            self.assertIn(f"--time-limit needs a number of seconds, not '{wrong}'", output)

    def test_unknown_stage_counts_at_least_one(self):
        self.answers["cuda"] = "0 3 no nvcc"
        status, output, _ = self.run_script("format", "cpu", "pip", "cuda")
        self.assertEqual(status, 0, output)
        self.assertIn("NOT RUN: CUDA build: what it needs is not available here; 1 tests count as skipped", output)
        self.assertTrue(output.endswith("30 passed, 0 failed, 7 skipped\n"), output)

    def test_long_starts_all(self):
        self.durations.write_text("".join(f"{stage} cold 9000 1\n" for stage in STAGES))
        self.assertEqual(self.run_script()[2], [])
        self.assertEqual(len(self.run_script("--long")[2]), 8)

    def test_nothing_run_is_a_failure(self):
        self.durations.write_text("".join(f"{stage} cold 9000 1\n" for stage in STAGES))
        status, output, _ = self.run_script()
        self.assertEqual(status, 1)
        self.assertIn("no test was run", output)

    def test_failures(self):
        self.answers["cpu"] = "0 0 8 passed, 2 failed, 0 skipped"
        self.answers["wheel"] = "0 1 error: does not compile"
        self.answers["module"] = "0 1 5 passed, 1 failed, 0 skipped"
        status, output, calls = self.run_script()
        self.assertEqual(status, 1)
        self.assertEqual(len(calls), 8)  # the others are run all the same
        self.assertRegex(output, "failed: CPU-only build.*; Python package, exit status 1; Build as a module.*;")
        self.assertTrue(output.endswith("63 passed, 4 failed, 10 skipped\n"), output)
        self.assertNotIn("wheel", [stage for stage, *_ in self.records()])

    def test_options_choose_stages(self):
        self.assertEqual(self.run_script("unit")[2], ["unit --no-install"])
        self.assertEqual(self.run_script("module", "upstream")[2], ["module --no-install", "upstream --no-install"])
        self.assertEqual(self.run_script("wheel", "--gpu-code")[2], ["wheel --no-install --gpu-code"])
        self.assertNotIn("wheel", [stage for stage, *_ in self.records()])  # with GPU code it takes longer
        self.assertNotIn("cuda --no-install", self.run_script("--cpu-only")[2])
        self.assertEqual(self.run_script("--nonsense")[0], 1)

    def test_without_options_the_library_is_tested_alone(self):
        status, output, calls = self.run_script_as_it_is()
        self.assertEqual(status, 0, output)
        self.assertEqual(calls, ["unit --no-install"])
        self.assertTrue(output.endswith("\n10 passed, 0 failed, 2 skipped\n"), output)


class RemoteModuleTest(unittest.TestCase):
    """scripts/remote-module.sh with a bare repository on this machine."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        (self.folder / "clone/scripts").mkdir(parents=True)
        for name in ("remote-module.sh", "common.sh"):
            shutil.copy(SCRIPTS / name, self.folder / "clone/scripts")
        shutil.copy(SCRIPTS.parent / "itk-module.cmake", self.folder / "clone")
        self.git("init", "-q", "-b", "main")
        self.git("add", ".")
        self.git("commit", "-q", "-m", "ENH: Module")
        self.git("tag", "-a", "v1.2.3", "-m", "Version")
        self.commit = self.git("rev-parse", "HEAD").strip()
        self.git("clone", "-q", "--bare", ".", str(self.folder / "bare.git"))
        self.url = str(self.folder / "bare.git")

    def git(self, *arguments):
        command = ["git", "-C", str(self.folder / "clone"), "-c", "user.name=A", "-c", "user.email=a@example.org", *arguments]
        return subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout.decode()

    def run_script(self, *arguments):
        command = [str(self.folder / "clone/scripts/remote-module.sh"), *arguments]
        process = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
        return process.returncode, process.stdout.decode()

    def test_the_file_names_the_commit_of_a_tag_or_a_branch(self):
        for tag in ("v1.2.3", "main"):
            status, output = self.run_script(self.url, tag)
            self.assertEqual(status, 0, output)
            text = (self.folder / "clone/build/CudaFilters.remote.cmake").read_text(encoding="utf-8")
            self.assertIn(f"  GIT_REPOSITORY {self.url}\n  GIT_TAG {self.commit} # {tag}\n", text)
            self.assertRegex(text, r"(?m)^itk_fetch_module\(\n  CudaFilters\n")

    def test_wrong_arguments_are_refused(self):
        self.git("rm", "-q", "itk-module.cmake")
        self.git("commit", "-q", "-m", "ENH: Another project")
        self.git("push", "-q", self.url, "HEAD:refs/heads/other")
        for arguments, message in (
            ((), "URL and TAG are needed, not 0 arguments"),
            ((self.url,), "URL and TAG are needed, not 1 arguments"),
            ((self.url, "v9"), "TAG is 'v9', which cannot be fetched from"),
            ((self.url + "x", "main"), "cannot be fetched from"),
            ((self.url, "other"), "is not this module: it has no itk-module.cmake"),
            ((self.url, "main", "--try", "/"), "--try is '/', which is no ITK source tree"),
            ((self.url, "main", "--build"), "--build needs --try"),
            ((self.url, "main", "--nonsense"), "unknown argument '--nonsense'"),
        ):
            status, output = self.run_script(*arguments)
            self.assertEqual(status, 1, output)
            self.assertIn(message, output)
        self.assertFalse((self.folder / "clone/build/CudaFilters.remote.cmake").exists())


class NamedUnitsTest(unittest.TestCase):
    def test_the_sanitizers_units_are_in_the_tests(self):
        folder = pathlib.Path(__file__).resolve().parent
        sources = "".join(file.read_text(encoding="utf-8") for file in folder.rglob("*.cxx"))
        units = re.findall(r"TEST(?:_F|_P)?\(\s*(\w+),\s*(\w+)\s*\)", sources)
        patterns = re.findall(r"(?<=[':])[A-Z][\w/\[\]]*\.[\w*/]+", (SCRIPTS / "gpu-sanitize.sh").read_text(encoding="utf-8"))
        self.assertGreater(len(patterns), 30)
        for pattern in patterns:
            # A suite with parameters is INSTANCE/SUITE, one with types SUITE/TYPE; the unit's name may end in /PARAMETER.
            suite, unit = pattern.split(".")
            suite = [part for part in suite.split("/") if "[" not in part][-1]
            unit = unit.split("/")[0]
            self.assertTrue(any(of == suite and fnmatch.fnmatchcase(name, unit) for of, name in units), pattern)


FAKE_SLAB_TIMES = """\
#!/usr/bin/env python3
import json, os, sys, time
devices = os.environ["ITK_CUDAFILTERS_DEVICES"]
name = sys.argv[1]
if "fails" in name:
    sys.exit(3)
if "slow" in name:
    time.sleep(60)
changed = "different" in name and devices == "0,1"
print(json.dumps({"case": name, "slabs_ms": 2.0, "duplex_ms": 1.0, "hash": "abc1" if changed else "abc", "whole_hash": "abc"}))
"""


class MultiGpuCheckTest(unittest.TestCase):
    """What the script writes where programs answer for GPUs."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.write("slab_times", FAKE_SLAB_TIMES)

    def write(self, name, text):
        (self.folder / name).write_text(text)
        (self.folder / name).chmod(0o755)

    def check(self, *options, gpus=2):
        """Returns (exit status, output, record)."""
        answer = "".join(f"echo {i}, fake, 1, 2\n" for i in range(gpus)) or "echo no driver; exit 9\n"
        self.write("nvidia-smi", f"#!/bin/sh\n{answer}")
        record = self.folder / "record.json"
        process = subprocess.run(
            [str(SCRIPTS / "multi-gpu-check.sh"), "--bin", str(self.folder), "--output", str(record), *options],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env=dict(os.environ, PATH=f"{self.folder}:{os.environ['PATH']}"),
            check=False,
        )
        found = json.loads(record.read_text()) if record.exists() else None
        return process.returncode, process.stdout.decode(), found

    def test_all_lists_of_devices_are_compared(self):
        for gpus, lists in ((1, ["0", "0,0"]), (2, ["0", "0,0", "0,1"]), (3, ["0", "0,0", "0,1", "0,1,2"]),
                            (8, ["0", "0,0", "0,1", "0,1,2,3", "0,1,2,3,4,5,6,7"])):
            status, output, record = self.check("--cases", "float:8:8:8:4:0:pinned", gpus=gpus)
            self.assertEqual(status, 0, output)
            self.assertEqual([",".join(map(str, run["devices"])) for run in record["runs"]], lists)
            self.assertEqual(len(record["devices"]), gpus)
            self.assertTrue(all(run["has_the_bits_of_the_first"] for run in record["runs"]))

    def test_different_bits_and_programs_that_fail_are_reported(self):
        status, output, record = self.check("--cases", "float:8:8:8:4:0:different short:8:8:8:4:0:pinned")
        self.assertEqual(status, 1)
        self.assertIn("DIFFERENT", output)
        self.assertEqual([run["has_the_bits_of_the_first"] for run in record["runs"]], [True, True, False, True, True, True])
        status, output, record = self.check("--cases", "float:8:8:8:4:0:fails")
        self.assertEqual(status, 1)
        self.assertIn("slab_times: exit status 3", record["runs"][0]["error"])
        self.write("CudaFiltersCudaGTestDriver", "#!/bin/sh\nexit 1\n")
        self.assertEqual(self.check("--cases", "float:8:8:8:4:0:pinned")[0], 1)

    def test_the_time_limit_holds(self):
        status, output, record = self.check("--cases", "float:8:8:8:4:0:slow", "--time-limit", "2")
        self.assertIn("slab_times: exit status 124", output)
        self.assertEqual(len(record["runs"]), 3)
        self.assertEqual(status, 1)
        self.assertIn("not run: no time is left", output)

    def test_wrong_use(self):
        status, output, record = self.check(gpus=0)
        self.assertEqual((status, record), (77, None))
        self.assertIn("skipped: no GPU: no driver", output)
        for options, words in (
            (("--time-limit", "soon"), "--time-limit is 'soon'; it must be a number of seconds"),
            (("--cases",), "--cases needs a value"),
            (("--what",), "unknown argument '--what'"),
            (("--bin", "/nonexistent"), "/nonexistent has no program slab_times"),
        ):
            status, output, _ = self.check(*options)
            self.assertEqual(status, 2, output)
            self.assertIn(words, output)


if __name__ == "__main__":
    unittest.main()
