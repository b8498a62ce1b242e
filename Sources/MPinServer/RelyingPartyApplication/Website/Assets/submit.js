"use strict";

// Submits the form that carries the provider's answer to the client's site (ProviderPages.formPost).
document.getElementById("answer").submit();
