/* SPDX-License-Identifier: Apache-2.0 */
/* Programs for later versions of the old core include this one, too. */
#include "mpin_sdk.h"
