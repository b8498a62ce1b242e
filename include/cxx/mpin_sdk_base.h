/* SPDX-License-Identifier: Apache-2.0 */
/* Programs for later versions of the Milagro core include this header. */
#include "mpin_sdk.h"
