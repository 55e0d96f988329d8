! SPDX-License-Identifier: BSD-3-Clause
! MPI_Scan and MPI_Exscan from Fortran, through one of its three interfaces: compile with -cpp and -DUSE_MPIF_H,
! -DUSE_MPI or -DUSE_MPI_F08. Prints the number of calls of each collective on this communicator, and of failures.

#ifdef USE_MPI_F08
#define HANDLE(kind) type(kind)
#define INTERFACE use mpi_f08
#define INCLUDES
#endif
#ifdef USE_MPI
#define HANDLE(kind) integer
#define INTERFACE use mpi
#define INCLUDES
#endif
#ifdef USE_MPIF_H
#define HANDLE(kind) integer
#define INTERFACE
#define INCLUDES include 'mpif.h'
#endif

module operators
    use iso_c_binding
    implicit none
    integer(8), parameter :: modulus = 1000003_8
contains
    ! A pair (a, b) is the map x -> a x + b; the map of the lower rank is applied first.
    subroutine compose(left, right, pairs)
        integer, intent(in) :: pairs
        integer(8), intent(in) :: left(2, pairs)
        integer(8), intent(inout) :: right(2, pairs)
        integer :: i
        integer(8) :: a
        do i = 1, pairs
            a = right(1, i)
            right(2, i) = mod(a * left(2, i) + right(2, i), modulus)
            right(1, i) = mod(a * left(1, i), modulus)
        end do
    end subroutine

#ifdef USE_MPI_F08
    subroutine user_function(left, right, length, datatype)
        use mpi_f08, only: MPI_Datatype
        type(c_ptr), value :: left, right
        integer :: length
        type(MPI_Datatype) :: datatype
        integer(8), pointer :: l(:, :), r(:, :)
        call c_f_pointer(left, l, [2, length])
        call c_f_pointer(right, r, [2, length])
        call compose(l, r, length)
    end subroutine
#else
    subroutine user_function(left, right, length, datatype)
        integer :: length, datatype
        integer(8) :: left(2, length), right(2, length)
        call compose(left, right, length)
    end subroutine
#endif
end module

program fortran_scan
    use operators
    INTERFACE
    implicit none
    INCLUDES
    integer, parameter :: counts(4) = [1, 2, 7, 1000]
    integer :: rank, size, error, failures, total, scans, exscans, i
    HANDLE(MPI_Op) :: composition
    HANDLE(MPI_Datatype) :: pair

    call MPI_Init(error)
    call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
    call MPI_Comm_size(MPI_COMM_WORLD, size, error)
    failures = 0
    scans = 0
    exscans = 0
    call MPI_Type_contiguous(2, MPI_INTEGER8, pair, error)
    call MPI_Type_commit(pair, error)
    call MPI_Op_create(user_function, .false., composition, error)
    do i = 1, 4
        call integers(counts(i))
        call doubles(counts(i))
        call pairs(counts(i))
    end do
    call truth_values(5)
    call locations(5)
    call complex_numbers(5)
    call MPI_Op_free(composition, error)
    call MPI_Type_free(pair, error)
    call MPI_Reduce(failures, total, 1, MPI_INTEGER, MPI_SUM, 0, MPI_COMM_WORLD, error)
    if (rank == 0) print '(a, i0, a, i0, a, i0)', 'scans ', scans, ' exscans ', exscans, ' failures ', total
    call MPI_Finalize(error)
    if (failures > 0) stop 1

contains

    subroutine expect(right)
        logical, intent(in) :: right
        if (.not. right) failures = failures + 1
        if (error /= MPI_SUCCESS) failures = failures + 1
    end subroutine

    subroutine integers(n)
        integer, intent(in) :: n
        integer :: input(n), output(n), before(n), k
        before = [(rank * k + rank * (rank - 1) / 2, k = 1, n)]
        input = [(rank + k, k = 1, n)]
        output = -1
        call MPI_Scan(input, output, n, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, error)
        call expect(all(output == before + input))
        output = -1
        call MPI_Exscan(input, output, n, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, error)
        call expect(all(output == merge(-1, before, rank == 0)))
        output = input
        call MPI_Scan(MPI_IN_PLACE, output, n, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, error)
        call expect(all(output == before + input))
        output = input
        call MPI_Exscan(MPI_IN_PLACE, output, n, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, error)
        if (rank == 0) then
            call expect(all(output == input))
        else
            call expect(all(output == before))
        end if
        scans = scans + 2
        exscans = exscans + 2
    end subroutine

    subroutine doubles(n)
        integer, intent(in) :: n
        double precision :: input(n), output(n)
        integer :: k
        input = [(0.5d0 * mod(7 * rank + k, 5), k = 1, n)]
        call MPI_Scan(input, output, n, MPI_DOUBLE_PRECISION, MPI_MAX, MPI_COMM_WORLD, error)
        call expect(all(output == [(maxval([(0.5d0 * mod(7 * i + k, 5), i = 0, rank)]), k = 1, n)]))
        call MPI_Exscan(input, output, n, MPI_DOUBLE_PRECISION, MPI_MAX, MPI_COMM_WORLD, error)
        if (rank > 0) call expect(all(output == [(maxval([(0.5d0 * mod(7 * i + k, 5), i = 0, rank - 1)]), k = 1, n)]))
        scans = scans + 1
        exscans = exscans + 1
    end subroutine

    ! A user-defined operator that is not commutative, on a derived datatype.
    subroutine pairs(n)
        integer, intent(in) :: n
        integer(8) :: input(2, n), output(2, n), up_to(2, n), before(2, n)
        integer :: r
        do r = 0, rank
            call fill(input, n, r)
            if (r == 0) then
                up_to = input
            else
                before = up_to
                up_to = input
                call compose(before, up_to, n)
            end if
        end do
        call MPI_Scan(input, output, n, pair, composition, MPI_COMM_WORLD, error)
        call expect(all(output == up_to))
        call MPI_Exscan(input, output, n, pair, composition, MPI_COMM_WORLD, error)
        if (rank > 0) call expect(all(output == before))
        scans = scans + 1
        exscans = exscans + 1
    end subroutine

    subroutine fill(values, n, r)
        integer, intent(in) :: n, r
        integer(8), intent(out) :: values(2, n)
        integer :: k
        do k = 1, n
            values(1, k) = 2 + r + k
            values(2, k) = 31 * r + 17 * k
        end do
    end subroutine

    subroutine truth_values(n)
        integer, intent(in) :: n
        logical :: input(n), output(n)
        integer :: k
        input = [(rank < k, k = 1, n)]
        call MPI_Scan(input, output, n, MPI_LOGICAL, MPI_LAND, MPI_COMM_WORLD, error)
        call expect(all(output .eqv. input))
        call MPI_Exscan(input, output, n, MPI_LOGICAL, MPI_LAND, MPI_COMM_WORLD, error)
        if (rank > 0) call expect(all(output .eqv. [(rank - 1 < k, k = 1, n)]))
        scans = scans + 1
        exscans = exscans + 1
    end subroutine

    subroutine locations(n)
        integer, intent(in) :: n
        integer :: input(2, n), output(2, n), k
        do k = 1, n
            input(:, k) = [rank + k, 100 - rank]
        end do
        call MPI_Scan(input, output, n, MPI_2INTEGER, MPI_MAXLOC, MPI_COMM_WORLD, error)
        call expect(all(output == input))
        call MPI_Exscan(input, output, n, MPI_2INTEGER, MPI_MINLOC, MPI_COMM_WORLD, error)
        if (rank > 0) call expect(all(output(1, :) == [(k, k = 1, n)]) .and. all(output(2, :) == 100))
        scans = scans + 1
        exscans = exscans + 1
    end subroutine

    subroutine complex_numbers(n)
        integer, intent(in) :: n
        complex :: input(n), output(n)
        input = (0.0, 1.0)
        call MPI_Scan(input, output, n, MPI_COMPLEX, MPI_PROD, MPI_COMM_WORLD, error)
        call expect(all(output == (0.0, 1.0) ** (rank + 1)))
        call MPI_Exscan(input, output, n, MPI_COMPLEX, MPI_PROD, MPI_COMM_WORLD, error)
        if (rank > 0) call expect(all(output == (0.0, 1.0) ** rank))
        scans = scans + 1
        exscans = exscans + 1
    end subroutine
end program
