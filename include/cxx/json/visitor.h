/* SPDX-License-Identifier: Apache-2.0 */
/* Declares json::Visitor and json::ConstVisitor where the old cores did. */
#include "elements.h"
