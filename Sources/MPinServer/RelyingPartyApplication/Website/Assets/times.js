"use strict";

// Shows each time in the visitor's time zone and language. The server writes UTC, because it does not know the
// visitor's zone.
(() => {
    const format = new Intl.DateTimeFormat(document.documentElement.lang, {
        dateStyle: "medium", timeStyle: "short",
    });
    for (const time of document.querySelectorAll("time[datetime]")) {
        time.title = time.textContent;
        time.textContent = format.format(new Date(time.dateTime));
    }
})();
