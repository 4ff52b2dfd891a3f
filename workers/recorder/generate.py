"""Writes the recorder's entry points, C and Fortran, and its record prototypes from calls.txt.

An entry point stops the computation clock, calls the MPI library, hands its arguments, as C
handles, to the record function, and starts the clock again. A Fortran entry calls the library's
own Fortran binding, so that sentinels and handle tables stay that library's business.
"""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass
from pathlib import Path

BANNER = '/* Written by generate.py from calls.txt. */\n#include "recorder.h"\n'
OPTIONAL_ERROR = ["MPI_Fint unasked = 0; if (ierr == NULL) ierr = &unasked;"]
HANDLES = {
    "MPI_Datatype": "PMPI_Type_f2c",
    "MPI_Op": "PMPI_Op_f2c",
    "MPI_Comm": "PMPI_Comm_f2c",
    "MPI_Group": "PMPI_Group_f2c",
    "MPI_Info": "PMPI_Info_f2c",
    "MPI_Message": "PMPI_Message_f2c",
    "MPI_Request": "PMPI_Request_f2c",
}


@dataclass(frozen=True)
class Parameter:
    """One parameter of an MPI function: C base type, whether pointer or array, before-ness."""

    base: str
    name: str
    pointer: bool
    array: bool
    before: bool

    @property
    def c(self) -> str:
        """The parameter in the C entry point."""
        return f"{self.base} {'*' if self.pointer else ''}{self.name}{'[]' if self.array else ''}"

    @property
    def fortran(self) -> str:
        """The parameter in the Fortran entry point: everything is an address."""
        if self.base.endswith("void"):
            return f"{self.base} *{self.name}"
        return f"MPI_Fint *{self.name}"

    @property
    def record(self) -> str:
        """The parameter in the record function: values, and arrays of values."""
        if self.base.endswith("void"):
            return f"const void *{self.name}"
        if self.array:
            return f"const {self.base.removeprefix('const ')} *{self.name}"
        return f"{self.base} {self.name}"


@dataclass(frozen=True)
class Call:
    """An MPI function and the record function that takes its arguments."""

    record: str
    name: str
    parameters: tuple[Parameter, ...]
    collective: bool
    nonblocking: bool = False
    stand_in: bool = False
    by_hand: bool = False

    @property
    def completes(self) -> bool:
        """Whether it completes requests."""
        return "wait" in self.record or "test" in self.record

    @property
    def many(self) -> str:
        """The parameter that counts the requests of the call."""
        names = [p.name for p in self.parameters]
        return next(name for name in ("incount", "count") if name in names)


def parse(text: str) -> list[Call]:
    """Read calls.txt, and a table of what a library lacks."""
    calls = []
    for line in text.splitlines():
        match = re.fullmatch(r"(call|collective|stand_in|by_hand) +(?:(\w+) +)?(\w+)\((.*)\)", line)
        if match is None:
            if line and not line.startswith("#"):
                raise SystemExit(f"calls.txt: cannot read: {line}")
            continue
        kind, record, name, arguments = match.groups()
        parameters = tuple(_parameter(argument) for argument in arguments.split(", "))
        call = Call(
            record,
            name,
            parameters,
            kind == "collective",
            stand_in=kind == "stand_in",
            by_hand=kind == "by_hand",
        )
        calls.append(call)
        if call.collective:
            request = Parameter("MPI_Request", "request", pointer=True, array=False, before=False)
            calls.append(Call(record, "I" + name.lower(), (*parameters, request), True, True))
    return calls


def _parameter(text: str) -> Parameter:
    before = text.startswith("before ")
    match = re.fullmatch(r"((?:const )?\w+) (\*?)(\w+)(\[\])?", text.removeprefix("before "))
    assert match is not None, text
    base, star, name, array = match.groups()
    return Parameter(base, name, bool(star), bool(array), before)


def prototypes(calls: list[Call]) -> str:
    """The header of the record functions; a collective's last argument is null when blocking."""
    seen = {}
    for call in calls:
        if call.nonblocking:
            continue
        parameters = [p.record for p in call.parameters]
        if call.collective:
            parameters.append("const MPI_Request *request")
        seen[call.record] = f"void record_{call.record}({', '.join(parameters)});"
    return "/* Written by generate.py from calls.txt. */\n#pragma once\n" + "\n".join(
        ["#include <mpi.h>", "", *seen.values(), ""]
    )


def c_entry(call: Call) -> str:
    """The C entry point of a call."""
    before, arguments = [], []
    for p in call.parameters:
        if p.base == "MPI_Status":
            length = call.many if p.array else "1"
            ignore = "MPI_STATUSES_IGNORE" if p.array else "MPI_STATUS_IGNORE"
            before.append(f"if ({p.name} == {ignore}) {p.name} = hamtune_statuses({length});")
            arguments.append(p.name if p.array else f"*{p.name}")
        elif p.before and p.array:
            before.append(
                f"const {p.base} *{p.name}_before = hamtune_requests({call.many}, {p.name});"
            )
            arguments.append(f"{p.name}_before")
        elif p.before:
            before.append(f"const {p.base} {p.name}_before = *{p.name};")
            arguments.append(f"{p.name}_before")
        else:
            arguments.append(f"*{p.name}" if p.pointer and "void" not in p.base else p.name)
    if call.collective:
        arguments = [*arguments[:-1], "request"] if call.nonblocking else [*arguments, "NULL"]
    passed = ", ".join(p.name for p in call.parameters)
    return _entry(
        call,
        f"int MPI_{call.name}({', '.join(p.c for p in call.parameters)})",
        [*before, *_lending(call, "lend")],
        "\n  ".join(
            [f"const int result = PMPI_{call.name}({passed});", *_lending(call, "take_back")]
        ),
        f'if (hamtune_recording("MPI_{call.name}", result))\n'
        f"    record_{call.record}({', '.join(arguments)});",
        "return result;",
    )


def _lending(call: Call, function: str) -> list[str]:
    """What comes before a call that completes requests (`lend`), or after it (`take_back`)."""
    if not call.completes:
        return []
    deref = "*" if function.startswith("f_") else ""
    (requests,) = (p for p in call.parameters if p.before)
    count = f"{deref}{call.many}" if requests.array else "1"
    before = f"{'' if requests.array else '&'}{requests.name}_before"
    return [f"hamtune_{function}({count}, {requests.name}, {before});"]


def fortran_entry(call: Call, module: str = "") -> str:
    """The Fortran entry point of a call, which converts for the record function only.

    Args:
        call: The call.
        module: `f08_` for the entry of the module mpi_f08, where the error code is optional.
    """
    converted = [_converted(call, p) for p in call.parameters]
    before = [line for lines, _ in converted for line in lines]
    arguments = [argument for _, argument in converted]
    after = []
    if call.nonblocking:
        arguments.pop()
        after.append("const MPI_Request started = PMPI_Request_f2c(*request);")
    if call.collective:
        arguments.append("&started" if call.nonblocking else "NULL")
    before[:0] = OPTIONAL_ERROR if module else []
    before += _lending(call, "f_lend")
    name = f"mpi_{call.name.lower()}_{module}"
    types = [p.fortran.rsplit("*", 1)[0] + "*" for p in call.parameters] + ["MPI_Fint *"]
    passed = ", ".join([*(p.name for p in call.parameters), "ierr"])
    record = f"record_{call.record}({', '.join(arguments)});"
    return _entry(
        call,
        f"void {name}({', '.join([*(p.fortran for p in call.parameters), 'MPI_Fint *ierr'])})",
        before,
        f"static void (*binding)({', '.join(types)});\n"
        f'  if (binding == NULL) *(void **)&binding = hamtune_f_binding("{name}");\n'
        + "\n  ".join([f"  binding({passed});", *_lending(call, "f_take_back")]),
        f'if (hamtune_recording("MPI_{call.name}", *ierr)) {{\n'
        f"    {' '.join([*after, record])}\n  }}",
        None,
    )


def _converted(call: Call, p: Parameter) -> tuple[list[str], str]:
    """A parameter of a Fortran entry as the record function takes it, and what comes before."""
    base = p.base.removeprefix("const ")
    before: list[str] = []
    if base == "void":
        argument = f"hamtune_f_buffer({p.name})"
    elif base == "MPI_Status":
        length = f"*{call.many}" if p.array else "1"
        before.append(f"if (hamtune_f_ignored({p.name})) {p.name} = hamtune_f_statuses({length});")
        statuses = f"hamtune_f_received({length}, {p.name})"
        argument = statuses if p.array else f"*{statuses}"
    elif p.before and p.array:
        requests = f"hamtune_f_requests(*{call.many}, {p.name})"
        before.append(f"const MPI_Request *{p.name}_before = {requests};")
        argument = f"{p.name}_before"
    elif p.before:
        before.append(f"const {base} {p.name}_before = {HANDLES[base]}(*{p.name});")
        argument = f"{p.name}_before"
    elif base == "MPI_Datatype" and p.array:
        which = 0 if p.name.startswith("send") else 1
        argument = f"hamtune_f_types({which}, PMPI_Comm_f2c(*comm), {p.name})"
        if which == 0:  # need not be an array then
            argument = f"hamtune_f_buffer(sendbuf) == MPI_IN_PLACE ? NULL : {argument}"
    elif p.name == "index":
        argument = f"hamtune_f_index(*{p.name})"
    elif p.name == "indices":
        argument = f"hamtune_f_indices(*outcount, {p.name})"
    elif base in HANDLES:
        argument = f"{HANDLES[base]}(*{p.name})"
    else:
        argument = p.name if p.array else f"*{p.name}"
    return before, argument


def stand_in_entry(call: Call) -> str:
    """The Fortran entry point of a C function of the recorder's own, which records."""
    before, after, arguments = [], [], []
    for p in call.parameters:
        base = p.base.removeprefix("const ")
        if base in HANDLES and p.pointer:
            before.append(f"{base} {p.name}_c;")
            after.append(f"*{p.name} = P{base}_c2f({p.name}_c);")
            arguments.append(f"&{p.name}_c")
        elif base in HANDLES:
            arguments.append(f"{HANDLES[base]}(*{p.name})")
        else:
            arguments.append(p.name if p.pointer or p.array else f"*{p.name}")
    parameters = ", ".join([*(p.fortran for p in call.parameters), "MPI_Fint *ierr"])
    return _function(
        f"void mpi_{call.name.lower()}_({parameters})",
        [*before, f"*ierr = MPI_{call.name}({', '.join(arguments)});"]
        + ([f"if (*ierr == MPI_SUCCESS) {{ {' '.join(after)} }}"] if after else []),
    )


def _function(signature: str, body: list[str]) -> str:
    return signature + "\n{\n" + "".join(f"  {line}\n" for line in body) + "}\n"


def _entry(
    call: Call, signature: str, before: list[str], invoke: str, record: str, result: str | None
) -> str:
    body = [f'hamtune_enter("MPI_{call.name}");', *before, invoke, record, "hamtune_leave();"]
    if result:
        body.append(result)
    return _function(signature, body)


def large_counts(calls: list[Call]) -> str:
    """Refusals of the forms with counts of 64 bits, which MPI 4 names with a `_c`."""
    named = [call.name for call in calls if any("count" in p.name for p in call.parameters)]
    waits = [name for name in named if "wait" in name.lower() or "test" in name.lower()]
    refused = [name for name in named if name not in (*waits, "Startall")]
    lines = [f"UNSUPPORTED_C(MPI_{name}_c)" for name in refused]
    return "\n".join(["/* Written by generate.py. */", '#include "unsupported.h"', "", *lines, ""])


def call_names(calls: list[Call]) -> str:
    """The names of the functions that are recorded, which a program must not define itself."""
    names = sorted({*(call.name for call in calls), "Finalize"})
    lines = "".join(f'  "MPI_{name}",\n' for name in names)
    return f"{BANNER}\nconst char *const hamtune_call_names[] = {{\n{lines}  NULL,\n}};\n"


def main() -> None:
    """Write the generated files: TABLE ... OUTPUT_DIRECTORY."""
    *tables, output = map(Path, sys.argv[1:])
    listed = parse("\n".join(table.read_text() for table in tables))
    recorded = [call for call in listed if not (call.stand_in or call.by_hand)]
    (output / "record_calls.h").write_text(prototypes(recorded))
    own = {call.name for call in listed if call.stand_in or call.by_hand}
    calls = [call for call in recorded if call.name not in own]
    (output / "c_entries.c").write_text("\n".join([BANNER, *map(c_entry, calls)]))
    (output / "large_counts.c").write_text(large_counts(recorded))
    (output / "call_names.c").write_text(call_names(recorded))
    for file, entries in (
        ("fortran_entries.c", [fortran_entry(call) for call in calls]),
        ("f08_entries.c", [fortran_entry(call, "f08_") for call in calls]),
        ("fortran_stand_ins.c", [stand_in_entry(call) for call in listed if call.stand_in]),
    ):
        declared = "".join(re.sub(r"\n\{.*", ";\n", entry, flags=re.S) for entry in entries)
        (output / file).write_text("\n".join([BANNER, declared, *entries]))


if __name__ == "__main__":
    main()
