// SPDX-License-Identifier: BSD-3-Clause
// In place of a driver of Level Zero, which its loader loads when a program initialises it. It is known by its name;
// what it does, gpu_stand_in.c does.
int stand_in_driver = 1;
