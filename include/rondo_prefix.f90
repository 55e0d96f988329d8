! SPDX-License-Identifier: BSD-3-Clause
! rondo_prefix.h for Fortran 2018: compile this file with your program, by the same compiler, and `use rondo`. What it is
! linked with, and what all arguments mean, is said there. Handles are those of `mpi_f08`; buffers are contiguous arrays
! of any type. In place: the same array for `in` and `out`, by rondo_prefix_in_place.
module rondo
  use, intrinsic :: iso_c_binding, only: c_int, c_ptr, c_loc
  use mpi_f08, only: MPI_Comm, MPI_Datatype, MPI_Op, MPI_COUNT_KIND, MPI_SUCCESS
  implicit none
  private
  public :: rondo_prefix, rondo_prefix_in_place, rondo_prefix_total

  interface
    function prefix_for_fortran(in, out, total, count, datatype, op, exclusive, comm) &
        bind(c, name="rondo_prefix_for_fortran") result(error)
      import :: c_int, c_ptr, MPI_COUNT_KIND
      type(c_ptr), value :: in, out, total
      integer(MPI_COUNT_KIND), value :: count
      integer(c_int), value :: datatype, op, exclusive, comm
      integer(c_int) :: error
    end function
  end interface

contains

  subroutine rondo_prefix(in, out, count, datatype, op, exclusive, comm, ierror)
    use, intrinsic :: iso_c_binding, only: c_null_ptr
    type(*), dimension(..), intent(in), target, contiguous :: in
    type(*), dimension(..), intent(inout), target, contiguous :: out
    integer(MPI_COUNT_KIND), intent(in) :: count
    type(MPI_Datatype), intent(in) :: datatype
    type(MPI_Op), intent(in) :: op
    logical, intent(in) :: exclusive
    type(MPI_Comm), intent(in) :: comm
    integer, optional, intent(out) :: ierror
    call run(c_loc(in), c_loc(out), c_null_ptr, count, datatype, op, exclusive, comm, ierror)
  end subroutine

  subroutine rondo_prefix_in_place(inout, count, datatype, op, exclusive, comm, ierror)
    use, intrinsic :: iso_c_binding, only: c_null_ptr
    type(*), dimension(..), intent(inout), target, contiguous :: inout
    integer(MPI_COUNT_KIND), intent(in) :: count
    type(MPI_Datatype), intent(in) :: datatype
    type(MPI_Op), intent(in) :: op
    logical, intent(in) :: exclusive
    type(MPI_Comm), intent(in) :: comm
    integer, optional, intent(out) :: ierror
    call run(c_loc(inout), c_loc(inout), c_null_ptr, count, datatype, op, exclusive, comm, ierror)
  end subroutine

  subroutine rondo_prefix_total(in, out, total, count, datatype, op, exclusive, comm, ierror)
    type(*), dimension(..), intent(in), target, contiguous :: in
    type(*), dimension(..), intent(inout), target, contiguous :: out
    type(*), dimension(..), intent(inout), target, contiguous :: total
    integer(MPI_COUNT_KIND), intent(in) :: count
    type(MPI_Datatype), intent(in) :: datatype
    type(MPI_Op), intent(in) :: op
    logical, intent(in) :: exclusive
    type(MPI_Comm), intent(in) :: comm
    integer, optional, intent(out) :: ierror
    call run(c_loc(in), c_loc(out), c_loc(total), count, datatype, op, exclusive, comm, ierror)
  end subroutine

  subroutine run(in, out, total, count, datatype, op, exclusive, comm, ierror)
    type(c_ptr), intent(in) :: in, out, total
    integer(MPI_COUNT_KIND), intent(in) :: count
    type(MPI_Datatype), intent(in) :: datatype
    type(MPI_Op), intent(in) :: op
    logical, intent(in) :: exclusive
    type(MPI_Comm), intent(in) :: comm
    integer, optional, intent(out) :: ierror
    integer :: error
    error = prefix_for_fortran(in, out, total, count, datatype%MPI_VAL, op%MPI_VAL, merge(1_c_int, 0_c_int, exclusive), &
        comm%MPI_VAL)
    if (present(ierror)) ierror = error
  end subroutine
end module
