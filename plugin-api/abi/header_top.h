/*
 * The plugin boundary of Chipdock, for C99 and C++11 and newer. SPDX-License-Identifier: Apache-2.0
 *
 * Printed from the crate chipdock-abi: do not edit. The numbered rules (P1.1, D.4, ...) are on the front page of the
 * crate chipdock-plugin-api; in short:
 *
 * - Export one function, `chipdock_plugin_v1`, which returns a static descriptor: see CHIPDOCK_PLUGIN at the end.
 *   Hide every other symbol (-fvisibility=hidden).
 * - Fill in every slot of a table: none may be null. Tables and their texts live as long as the process.
 * - Return 0, or raise an error with the host that called (`host->raise`, same thread) and return a status. A failure
 *   without an error is reported as a broken plugin.
 * - No C++ exception, no longjmp and no exit may leave any of your functions: catch everything (`catch (...)`), raise
 *   it as kind "Panic" and return CHIPDOCK_PANIC.
 * - Every function may be called from any thread at once. `init` runs once for each host, starts no thread, calls no
 *   vendor's driver, and keeps nothing of the host in a global: the instance that it writes to `out_instance` is passed
 *   to `shutdown` and `release`, and each `self_` leads to it.
 * - Arguments and texts are borrowed for the call. What you hand out carries its deleter. Texts are UTF-8 and not
 *   NUL-terminated.
 * - ChipdockDevice, ChipdockDataType, ChipdockTensor and the managed tensors are laid out as DLPack's types, under names of
 *   their own: dlpack.h may be included too, before or after, and a cast from its types is right.
 * - Set reserved fields (`padding`) and the unused bytes of a value to zero. Sixteen zero bytes lie before an object that
 *   you make (V.13). Elements of less than a byte are packed, low bits first (V.6).
 * - Names without a dot are Chipdock's, in interfaces, extensions, attributes, error kinds, scopes, section kinds and
 *   fields of documents. Yours begin with your plugin's name and a dot: `npu.watchdog` (P5.17).
 */

#ifndef CHIPDOCK_H
#define CHIPDOCK_H
