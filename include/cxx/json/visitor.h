/* SPDX-License-Identifier: Apache-2.0 */
/* Declares json::Visitor and json::ConstVisitor in the header in which the
 * Milagro and MIRACL cores declared them. */
#include "elements.h"
