/* SPDX-License-Identifier: Apache-2.0 */
/* json::Visitor and json::ConstVisitor, where the old cores had them. */
#include "elements.h"
