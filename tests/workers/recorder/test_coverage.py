"""No MPI function of SMPI escapes: it is recorded, refused by name, or known to be harmless."""

import re
import subprocess
from pathlib import Path

from workers.capture_build import RECORDER

# Functions that neither communicate nor make an object that could: they pass unrecorded.
LOCAL = re.compile(
    r"MPI_("
    r"(Abort|Initialized|Finalized|Query_thread|Is_thread_main|Wtick)"
    r"|(Get_(version|library_version|processor_name|address|count|elements|elements_x)|Address)"
    r"|(Alloc_mem|Free_mem|Buffer_(attach|detach)|Aint_(add|diff))"
    r"|(Type|Group|Info|Errhandler|Op|Attr|Keyval|Error|Status|Message)_\w+"
    r"|Add_error_\w+|(Pack|Unpack)\w*|Reduce_local|Register_datarep|Test_cancelled"
    r"|Request_(c2f|f2c)"
    r"|Comm_(c2f|f2c|rank|size|group|compare|test_inter|remote_\w+|get_\w+|set_\w+|call_errhandler"
    r"|create_(keyval|errhandler)|delete_attr|free_keyval)"
    r"|(Cart_(coords|get|map|rank|shift)|Cartdim_get|Dims_create|Topo_test)"
    r"|(Open_port|Close_port|Publish_name|Unpublish_name|Lookup_name)"
    r")"
)

# Functions of objects that only a refused function can make.
UNREACHABLE = re.compile(
    r"MPI_(Win_\w+|File_\w+|Graph_\w+|Graphdims_get|Dist_graph_neighbors\w*"
    r"|Grequest_complete)"
)


def functions_of(*command: str) -> set[str]:
    output = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    return {line.split()[-1] for line in output.splitlines() if " T " in line or " W " in line}


def entry_points() -> set[str]:
    return functions_of("nm", "--defined-only", str(RECORDER / "hamtune_recorder.o"))


def library() -> Path:
    found = subprocess.run(
        ["gcc", "-print-file-name=libsimgrid.so"], capture_output=True, text=True, check=True
    )
    return Path(found.stdout.strip())


def test_every_function_of_the_library_is_accounted_for() -> None:
    functions = {
        name for name in functions_of("nm", "-D", str(library())) if name.startswith("MPI_")
    }
    assert len(functions) > 300
    loose = {name for name in functions - entry_points() if not LOCAL.fullmatch(name)}
    assert sorted(name for name in loose if not UNREACHABLE.fullmatch(name)) == []


def test_every_c_entry_point_has_its_fortran_twin() -> None:
    entries = entry_points()
    c_names = {name for name in entries if name.startswith("MPI_")}
    c_names -= {name for name in c_names if name.endswith("_c")}  # have no name in Fortran
    assert sorted(name for name in c_names if f"{name.lower()}_" not in entries) == []
