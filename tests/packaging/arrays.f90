! SPDX-License-Identifier: BSD-3-Clause
! Prefix sums of Fortran's arrays. Rank 0 prints what all ranks have found.
program arrays
  use mpi_f08
  use rondo
  implicit none
  real(8) :: in(3), out(3), total(1)
  integer :: whole(2, 4), rank, size, error, i
  logical :: right, all_right
  type(MPI_Datatype) :: column

  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, size)
  in = [real(8) :: rank, 0.5d0, 1d0]
  call rondo_prefix(in, out, 3_MPI_COUNT_KIND, MPI_DOUBLE_PRECISION, MPI_SUM, .false., MPI_COMM_WORLD)
  right = out(3) == rank * (rank + 1) / 2 + 1.5d0 * (rank + 1)
  call rondo_prefix_total(in, out, total, 3_MPI_COUNT_KIND, MPI_DOUBLE_PRECISION, MPI_SUM, .true., MPI_COMM_WORLD, error)
  right = right .and. error == MPI_SUCCESS .and. out(2) - out(1) == rank
  right = right .and. total(1) == size * (size - 1) / 2 + 1.5d0 * size

  ! Each row of a matrix by itself, column after column.
  call MPI_Type_contiguous(2, MPI_INTEGER, column)
  call MPI_Type_commit(column)
  do i = 1, 4
    whole(:, i) = [1, 10]
  end do
  call rondo_prefix_in_place(whole, 4_MPI_COUNT_KIND, column, MPI_SUM, .false., MPI_COMM_WORLD)
  right = right .and. all(whole(:, 4) == [4, 40] * (rank + 1))
  call MPI_Type_free(column)

  call MPI_Allreduce(right, all_right, 1, MPI_LOGICAL, MPI_LAND, MPI_COMM_WORLD)
  if (rank == 0) print '(a)', merge("arrays right", "arrays wrong", all_right)
  call MPI_Finalize()
end program
