// SPDX-License-Identifier: BSD-3-Clause
// What libgcc_s.so.1 exports for exceptions. Linking with this stand-in makes a library take the functions from the
// libgcc_s.so.1 of the machine on which it runs.
#define FUNCTION(name) \
    void name(void) {}

FUNCTION(_Unwind_Backtrace)
FUNCTION(_Unwind_DeleteException)
FUNCTION(_Unwind_FindEnclosingFunction)
FUNCTION(_Unwind_ForcedUnwind)
FUNCTION(_Unwind_GetCFA)
FUNCTION(_Unwind_GetDataRelBase)
FUNCTION(_Unwind_GetGR)
FUNCTION(_Unwind_GetIP)
FUNCTION(_Unwind_GetIPInfo)
FUNCTION(_Unwind_GetLanguageSpecificData)
FUNCTION(_Unwind_GetRegionStart)
FUNCTION(_Unwind_GetTextRelBase)
FUNCTION(_Unwind_RaiseException)
FUNCTION(_Unwind_Resume)
FUNCTION(_Unwind_Resume_or_Rethrow)
FUNCTION(_Unwind_SetGR)
FUNCTION(_Unwind_SetIP)
