"use strict";

// Sends the one form of the page, which is on its way to another site.
document.getElementById("answer").submit();
