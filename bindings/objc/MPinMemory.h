/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MPIN_OBJC_MEMORY_H
#define MPIN_OBJC_MEMORY_H

/* These sources compile with automatic reference counting (clang) and without
 * it (gcc, which has none). */
#if defined(__has_feature)
#if __has_feature(objc_arc)
#define MPIN_ARC 1
#endif
#endif

#ifdef MPIN_ARC
#define MPIN_RETAIN(object) (object)
#define MPIN_AUTORELEASE(object) (object)
/* A method whose result lives as long as its object. */
#define MPIN_INNER __attribute__((objc_returns_inner_pointer))
#else
#define MPIN_ARC 0
#define MPIN_RETAIN(object) [(object) retain]
#define MPIN_AUTORELEASE(object) [(object) autorelease]
#define MPIN_INNER
#endif

#endif
