# SPDX-License-Identifier: BSD-3-Clause
"""Pictures of algorithms, made from what they do in virtual time: there is no second description of any of them."""
