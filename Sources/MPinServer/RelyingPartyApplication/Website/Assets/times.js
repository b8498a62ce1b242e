"use strict";

// Shows each time in the visitor's zone and language. The server writes UTC: it does not know where the visitor is.
(() => {
    const format = new Intl.DateTimeFormat(document.documentElement.lang, {
        dateStyle: "medium", timeStyle: "short",
    });
    for (const time of document.querySelectorAll("time[datetime]")) {
        time.title = time.textContent;
        time.textContent = format.format(new Date(time.dateTime));
    }
})();
