"""Makes programs with real TVM's own libraries, and says what TVM computes with them.

Usage: python programs KIND FOLDER SEED [SAMPLE ONE_IN] [FIRST]. KIND is `plain`; `rules`: TOPI's operators as the rules of dlight schedule them for
threads; `steps`: larger ones so, and schedules by steps. Every operator of TOPI and Relax, in a few variants, and four models; each is
drawn from the seed and its name, so that it is the same in every choice. ONE_IN takes one in so many of them, drawn from
SAMPLE. Written into FOLDER: `count`, the number of all of them; `<i>.py`, the script that TVM prints of program i, and `<i>.plain.py`, of one that is scheduled, that without a schedule; `<i>.<k>.in` and `<i>.<k>.out`,
the bytes of argument k before and after TVM has run it; and `programs.jsonl`, one object a line: `{"name", "group",
"function", "arguments": [{"dtype", "shape"} or {"int"}], "error"}`. `error` is there where TVM made the program and
could not run it, and `refused`, in place of the rest, where TVM itself could not make it. TVM may crash: the work is
done in a child, which is started again behind the draw that it died of.
"""

import contextlib
import io
import json
import pathlib
import random
import subprocess
import sys
import traceback

import numpy
import tvm
from tvm import te

HERE = pathlib.Path(__file__).parent.resolve()
sys.path.insert(0, str(HERE))

import relax_programs  # noqa: E402
import scheduled_programs  # noqa: E402
import topi_operators  # noqa: E402
from draw import Draw  # noqa: E402

KIND = sys.argv[1]
OURS = 70  # the exit code of a worker that failed for a reason of its own


def reason(error):
    text = str(error).strip() or type(error).__name__
    lines = [line.strip() for line in text.splitlines() if not line.lstrip().startswith(("File ", "^"))]
    return f"{type(error).__name__}: {' | '.join(line for line in lines if line)[-400:]}"


class Writer:
    """Programs and what TVM made of them, in files."""

    def __init__(self, folder):
        self.folder = folder
        self._list = folder / "programs.jsonl"
        self.count = len(self._list.read_text().splitlines()) if self._list.exists() else 0

    def note(self, entry):
        with self._list.open("a") as file:
            file.write(json.dumps(entry) + "\n")
        self.count += 1

    def refused(self, name, group, error):
        self.note({"name": name, "group": group, "refused": reason(error)})

    def program(self, name, group, function, arguments, printed=None):
        """Runs a function on arrays and numbers; gives the arrays after it, or None where TVM cannot run it.

        `printed` is the function that is printed, if it is another: one that is to compute the same.
        """
        i, symbol = self.count, f"f{self.count}"
        module = tvm.IRModule({symbol: function.with_attr("global_symbol", symbol)})
        shown = module if printed is None else tvm.IRModule({symbol: printed.with_attr("global_symbol", symbol)})
        (self.folder / f"{i}.py").write_text(shown.script())
        if printed is not None:
            (self.folder / f"{i}.plain.py").write_text(module.script())
        entry = {"name": name, "group": group, "function": symbol, "arguments": []}
        for k, argument in enumerate(arguments):
            if isinstance(argument, int):
                entry["arguments"].append({"int": argument})
            else:
                (self.folder / f"{i}.{k}.in").write_bytes(argument.tobytes())
                entry["arguments"].append({"dtype": str(argument.dtype), "shape": list(argument.shape)})
        try:
            with contextlib.redirect_stderr(io.StringIO()):
                compiled = tvm.compile(module, target="llvm")
                values = [a if isinstance(a, int) else tvm.runtime.tensor(a) for a in arguments]
                compiled[symbol](*values)
        except Exception as error:  # noqa: BLE001 - whatever TVM raises
            self.note({**entry, "error": reason(error)})
            return None
        after = [a if isinstance(a, int) else value.numpy() for a, value in zip(arguments, values)]
        for k, array in enumerate(after):
            if not isinstance(array, int):
                (self.folder / f"{i}.{k}.out").write_bytes(array.tobytes())
        self.note(entry)
        return after


def topi_program(writer, name, make, seed):
    draw = Draw(seed, lambda label, shape, dtype: te.placeholder(shape, dtype, label))
    try:
        with tvm.target.Target("llvm"):
            made = make(draw)
        results = [made] if isinstance(made, te.Tensor) else list(made)
        function = te.create_prim_func([*draw.inputs, *results])
        outputs = [numpy.zeros([int(n) for n in result.shape], str(result.dtype)) for result in results]
    except Exception as error:  # noqa: BLE001 - whatever TVM raises
        return writer.refused(name, "topi", error)
    return writer.program(name, "topi", function, [*draw.arrays, *outputs])


def all_programs():
    """(name, what writes it), in a fixed order."""
    if KIND == "rules":
        yield from scheduled_programs.of_topi(topi_operators.OPERATORS)
        return
    if KIND == "steps":
        yield from scheduled_programs.of_ours()
        return
    for name, (variants, make) in topi_operators.OPERATORS.items():
        for variant in range(variants):
            yield f"{name}/{variant}", lambda w, n, s, make=make: topi_program(w, n, make, s)
    yield from relax_programs.all_programs()


def chosen(sample, one_in):
    """Those that are taken, in order."""
    names = [name for name, _ in all_programs()]
    by_number = sorted(names, key=lambda name: random.Random(f"{sample} takes {name}").random())
    taken = set(by_number[: -(-len(names) // one_in)])
    return [each for each in all_programs() if each[0] in taken]


def work(folder, seed, sample, one_in, first):
    """The draws from one on, each announced before it is made."""
    writer = Writer(folder)
    for index, (name, write) in enumerate(chosen(sample, one_in)[first:], first):
        (folder / "current").write_text(str(index))
        write(writer, name, f"{seed} {name}")
    (folder / "current").write_text("")


def main():
    folder, seed = pathlib.Path(sys.argv[2]).resolve(), sys.argv[3]
    sample, one_in = (sys.argv[4], int(sys.argv[5])) if len(sys.argv) > 5 else ("", 1)
    if len(sys.argv) > 6:
        try:
            return work(folder, seed, sample, one_in, int(sys.argv[6]))
        except BaseException:  # noqa: BLE001 - a fault of this program, told from a crash of TVM's by the exit code
            traceback.print_exc()
            sys.exit(OURS)
    (folder / "count").write_text(str(len(list(all_programs()))))
    first = 0
    while True:
        with (folder / "log").open("a") as log:
            command = [sys.executable, str(HERE), KIND, str(folder), seed, sample, str(one_in), str(first)]
            # TOPI keeps what it worked out in the current folder.
            ended = subprocess.run(command, cwd=folder, stdout=log, stderr=log)
        current = (folder / "current").read_text()
        if not current:
            return None
        if ended.returncode == OURS:
            sys.exit((folder / "log").read_text()[-4000:])
        name = chosen(sample, one_in)[int(current)][0]
        Writer(folder).note({"name": name, "group": name.split(".")[0], "refused": f"TVM died of it, with {ended.returncode}"})
        first = int(current) + 1


main()
