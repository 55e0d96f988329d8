# SPDX-License-Identifier: BSD-3-Clause
"""Prefix sums of NumPy arrays that lie distributed over the ranks of an mpi4py communicator."""

from __future__ import annotations

import ctypes
import functools
import math
from operator import index
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rondo.errors import Error
from rondo.launching.abi import abi_of_library
from rondo.launching.installation import prefix_library

if TYPE_CHECKING:
    import numpy as np
    from mpi4py import MPI

# Which kinds of dtypes MPI defines an operator on: b truth values, i and u integers, f and c numbers.
KINDS = {
    "sum": "iufc",
    "prod": "iufc",
    "max": "iuf",
    "min": "iuf",
    "land": "biu",
    "lor": "biu",
    "lxor": "biu",
    "band": "iu",
    "bor": "iu",
    "bxor": "iu",
}
MPI_NAMES = {
    "b1": "C_BOOL",
    "i1": "INT8_T",
    "i2": "INT16_T",
    "i4": "INT32_T",
    "i8": "INT64_T",
    "u1": "UINT8_T",
    "u2": "UINT16_T",
    "u4": "UINT32_T",
    "u8": "UINT64_T",
    "f4": "FLOAT",
    "f8": "DOUBLE",
    "f16": "LONG_DOUBLE",
    "c8": "C_FLOAT_COMPLEX",
    "c16": "C_DOUBLE_COMPLEX",
    "c32": "C_LONG_DOUBLE_COMPLEX",
}
DIFFERING = (
    "ranks differ in dtype, in a length that is not along the axis, in op, exclusive or return_total; equal ones were "
    "expected (a rank without elements gives numpy.empty(0, dtype))"
)


def prefix_sum(
    array: Any,
    comm: MPI.Intracomm | None = None,
    *,
    op: str | MPI.Op = "sum",
    exclusive: bool = False,
    axis: int = 0,
    out: np.ndarray | None = None,
    return_total: bool = False,
) -> Any:
    """The prefix sums of an array that lies distributed over the ranks of a communicator.

    The whole array consists of the arrays of rank 0, rank 1, and so on, one behind the other along `axis`. Lengths
    along it may differ, and may be 0; dtype, the other lengths and all other arguments are the same on all ranks. Every
    element of the result is the sum of those of the whole array up to and including its own place; with `exclusive`,
    without it: then the very first are 0, or what else changes nothing in the operator. All ranks of `comm` call it.

    array: anything that `numpy.asarray` takes, of truth values, integers, or real or complex numbers; no masked array.
    comm: an intra-communicator of mpi4py; MPI.COMM_WORLD if there is none.
    op: "sum", "prod", "max", "min", "land", "lor", "lxor", "band", "bor", "bxor", or an MPI.Op, which need not commute.
        What changes nothing in an operator of yours nobody knows: the first of an exclusive sum is undefined.
    out: where the result goes, of the same shape and dtype: `array` itself, or disjoint from it.
    return_total: return a pair, whose second part is the sum of the whole array along `axis`, on every rank.

    Returns the result: `out`, or a new array. Sums of integers wrap around; those of numbers are rounded in an order
    that only depends on the lengths on all ranks. Raises TypeError and ValueError for what is wrong with the arguments,
    before any rank has heard of the call; mpi4py's MPI.Exception for what MPI reports; rondo.errors.Error where there
    is no library for the MPI that mpi4py uses, or MPI is not initialised.
    """
    numpy, mpi = modules()
    comm = mpi.COMM_WORLD if comm is None else comm
    check_communicator(comm, mpi)
    array = plain(array, numpy)
    kind = _mpi_name(array, numpy)
    operator = _operator(op, array, mpi)
    axis = whole_axis(axis, array)
    result = _result(array, out, numpy)
    into = result if axis == 0 else numpy.moveaxis(result, axis, 0)
    # The functions of a user get rows as they lie, and a total is one of them.
    needs_rows = not operator.is_predefined or (return_total and array.ndim > 1)
    work = into if _can_be_described(into, needs_rows) else numpy.empty(into.shape, into.dtype)
    source = array if axis == 0 else numpy.moveaxis(array, axis, 0)
    if source.strides != work.strides or not _is_same_or_apart(array, work, numpy):
        numpy.copyto(work, source)
        source = work
    total = numpy.empty(work.shape[1:], work.dtype) if return_total else None
    base = getattr(mpi, kind)
    if base == mpi.DATATYPE_NULL:
        raise TypeError(f"the MPI library has no datatype for {array.dtype}")
    if 0 not in work.shape[1:]:  # else there are no columns, on any rank
        _call((source, work, total), base, operator, exclusive, comm)
    if work is not into:
        numpy.copyto(into, work)
    return (result, total[()] if work.ndim == 1 else total) if return_total else result


def modules() -> tuple[Any, Any]:
    """NumPy, and mpi4py's MPI; Error without them."""
    try:
        import numpy  # noqa: PLC0415
        from mpi4py import MPI  # noqa: PLC0415
    except ImportError as error:
        raise Error(f"distributed arrays in Python need NumPy and mpi4py: {error}; pip install numpy mpi4py") from None
    return numpy, MPI


def plain(array: Any, numpy: Any) -> np.ndarray:
    """What is given as an array; TypeError if it is masked."""
    if type(array) is not numpy.ndarray and isinstance(array, numpy.ma.MaskedArray):
        raise TypeError("the array is masked, and masks are not looked at; array.filled(0), say, was expected")
    plain: np.ndarray = numpy.asarray(array)
    return plain


def whole_axis(axis: Any, array: np.ndarray) -> int:
    """The axis, if the array has it; TypeError or ValueError."""
    if array.ndim == 0:
        raise ValueError("the array has no axis; an array with at least one was expected, as numpy.atleast_1d makes it")
    try:
        number = index(axis)
    except TypeError:
        raise TypeError(f"axis is {axis!r}; a whole number was expected") from None
    if not -array.ndim <= number < array.ndim:
        raise ValueError(f"axis {axis} is out of range for an array of {array.ndim} dimensions")
    return number


def check_communicator(comm: Any, mpi: Any) -> None:
    """Error, TypeError or ValueError if it is none that can be used."""
    if not mpi.Is_initialized() or mpi.Is_finalized():
        raise Error("called before MPI.Init() or after MPI.Finalize(); call it between them")
    if not isinstance(comm, mpi.Comm):
        raise TypeError(f"comm is a {type(comm).__name__}; a communicator of mpi4py was expected")
    if comm == mpi.COMM_NULL:
        raise ValueError("comm is MPI.COMM_NULL, or has been freed; a communicator was expected")
    if comm.Is_inter():
        raise ValueError(
            "comm is an inter-communicator, whose ranks have no common order; an intra-communicator was expected"
        )


def _mpi_name(array: np.ndarray, numpy: Any) -> str:
    """What MPI calls the dtype."""
    dtype = array.dtype
    if not dtype.isnative:
        raise TypeError(
            f"the array's dtype is {dtype.str}, in another byte order; array.astype({dtype.name!r}) has this machine's"
        )
    name = MPI_NAMES.get(f"{dtype.kind}{dtype.itemsize}")
    if name is None or dtype.names is not None:
        raise TypeError(
            f"the array's dtype is {dtype}, of which MPI knows no sums; numbers or truth values were expected"
        )
    return name


def _operator(op: Any, array: np.ndarray, mpi: Any) -> Any:
    if isinstance(op, mpi.Op):
        if op == mpi.OP_NULL:
            raise ValueError("op is MPI.OP_NULL, or has been freed; an operator was expected")
        return op
    if not isinstance(op, str) or op not in KINDS:
        raise ValueError(f"op is {op!r}; one of {', '.join(KINDS)} or an MPI.Op was expected")
    if array.dtype.kind not in KINDS[op]:
        advice = "; array.astype(int) was expected" if array.dtype.kind == "b" else ""
        raise TypeError(f"op {op!r} is not defined for {array.dtype}{advice}")
    return getattr(mpi, op.upper())


def _result(array: np.ndarray, out: Any, numpy: Any) -> np.ndarray:
    if out is None:
        return numpy.empty_like(array, subok=False)
    if not isinstance(out, numpy.ndarray):
        raise TypeError(f"out is a {type(out).__name__}; a NumPy array was expected")
    if out.shape != array.shape:
        raise ValueError(f"out has the shape {out.shape}; {array.shape} was expected, as the array has it")
    if out.dtype != array.dtype:
        raise TypeError(f"out has the dtype {out.dtype}; {array.dtype} was expected, as the array has it")
    if not out.flags.writeable:
        raise ValueError("out is read-only; an array that can be written was expected")
    if (
        0 in out.strides
        and out.size > 0
        and any(stride == 0 and length > 1 for stride, length in zip(out.strides, out.shape, strict=True))
    ):
        raise ValueError("several elements of out stand at the same place; an array with a place for each was expected")
    if not _is_same(array, out) and not _is_apart(array, out, numpy):
        raise ValueError("out overlaps the array in part; the array itself, or one apart from it, was expected")
    return out


def _address(array: np.ndarray) -> int:
    return array.__array_interface__["data"][0]


def _is_same(array: np.ndarray, out: np.ndarray) -> bool:
    return _address(array) == _address(out) and array.strides == out.strides


def _is_apart(array: np.ndarray, out: np.ndarray, numpy: Any) -> bool:
    if not numpy.may_share_memory(array, out):
        return True
    try:
        return not numpy.shares_memory(array, out, max_work=1000)
    except getattr(numpy, "exceptions", numpy).TooHardError:  # numpy.TooHardError before NumPy 1.25
        return False


def _is_same_or_apart(array: np.ndarray, work: np.ndarray, numpy: Any) -> bool:
    """True if the library can read the one while it writes the other."""
    return array is work or not numpy.may_share_memory(array, work) or _address(array) == _address(work)


def _can_be_described(rows: np.ndarray, needs_rows: bool) -> bool:
    """True if the array can be given to MPI as elements at equal distances, one for each index of its first axis."""
    if needs_rows:
        return bool(rows.flags.c_contiguous)
    return rows.shape[0] < 2 or rows.strides[0] > 0


def _row_type(rows: np.ndarray, base: MPI.Datatype) -> MPI.Datatype | None:
    """A datatype for what stands at one index of the first axis; None if that is the element itself."""
    # Of an array without elements, NumPy's strides mean nothing, but a total is laid out as its rows would be.
    strides = rows.strides if rows.size > 0 else _packed_strides(rows)
    distance = strides[0] if rows.shape[0] > 1 else rows.itemsize * math.prod(rows.shape[1:])
    if rows.ndim == 1 and distance == rows.itemsize:
        return None
    made = [base.Dup()]
    for length, stride in reversed(list(zip(rows.shape[1:], strides[1:], strict=True))):
        made.append(made[-1].Create_hvector(length, 1, stride))
    row = made[-1].Create_resized(0, distance).Commit()
    for datatype in made:
        datatype.Free()
    return row


def _packed_strides(rows: np.ndarray) -> list[int]:
    return [rows.itemsize * math.prod(rows.shape[axis + 1 :]) for axis in range(rows.ndim)]


def _call(
    arrays: tuple[np.ndarray, np.ndarray, np.ndarray | None],
    base: MPI.Datatype,
    operator: MPI.Op,
    exclusive: bool,
    comm: MPI.Intracomm,
) -> None:
    """Calls the library with an array, one for the result of equal layout, and one for the total or None."""
    _, mpi = modules()
    _, into, total = arrays
    row = _row_type(into, base)
    try:
        library = _library()
        buffers = [ctypes.c_void_p(each.ctypes.data) for each in arrays if each is not None]
        call = library.rondo_prefix if total is None else library.rondo_prefix_total
        datatype, op, communicator = (_handle(each, mpi) for each in (base if row is None else row, operator, comm))
        code = call(*buffers, ctypes.c_longlong(into.shape[0]), datatype, op, int(exclusive), communicator)
        if code != mpi.SUCCESS:
            error = mpi.Exception(code)
            raise error from (TypeError(DIFFERING) if error.Get_error_class() == mpi.ERR_TYPE else None)
    finally:
        if row is not None:
            row.Free()


def _handle(thing: Any, mpi: Any) -> Any:
    """An MPI handle as C passes it: an int, or a pointer."""
    of_size = {4: ctypes.c_int, 8: ctypes.c_void_p}[mpi._sizeof(thing)]
    return of_size.from_address(mpi._addressof(thing))


@functools.cache
def _library() -> ctypes.CDLL:
    """Rondo's library for the MPI of this process."""
    found = {abi_of_library(path.name): path.name for path in _mapped()}
    names = ", ".join(sorted(name for abi, name in found.items() if abi is not None))
    known = [abi for abi in found if abi]
    if len(known) != 1:
        what = names or "no MPI library that Rondo sees"
        raise Error(f"mpi4py uses {what}; one MPI library whose binary interface Rondo knows was expected")
    library = ctypes.CDLL(str(prefix_library(known[0])))
    for name in ("rondo_prefix", "rondo_prefix_total"):
        getattr(library, name).restype = ctypes.c_int
    return library


def _mapped() -> list[Path]:
    """The files that this process has loaded."""
    lines = Path("/proc/self/maps").read_text().splitlines()
    return [Path(line.split(None, 5)[5].strip()) for line in lines if "/" in line]
