"use strict";

// Sends a form only once, however often its buttons are pressed. The second request would find that the login is over,
// and its answer would take the place of the first one's. Who comes back to the page can send the form again.
for (const form of document.forms) {
    let isSent = false;
    form.addEventListener("submit", (event) => {
        if (isSent) event.preventDefault();
        isSent = true;
    });
    addEventListener("pageshow", (event) => {
        if (event.persisted) isSent = false;
    });
}
