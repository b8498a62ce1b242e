"use strict";

// Tells how far the phone is and opens the account once it has logged in. Without this script the button of the form
// does the same when it is pressed.
(() => {
    const login = document.getElementById("login");
    const status = document.getElementById("status");
    const remaining = document.getElementById("remaining");
    const form = login.querySelector("form");
    const end = Date.now() + Number(login.dataset.seconds) * 1000;
    const pause = 1000;
    // The server holds an answer back for so many seconds while nothing changes.
    const wait = 30;
    form.hidden = true;

    const post = (url, message) => fetch(url, {
        method: "POST",
        headers: {"Content-Type": "application/json"},
        body: JSON.stringify(message),
    });

    const sleep = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));

    const finish = (text) => {
        clearInterval(clock);
        status.textContent = text;
        remaining.textContent = "";
        document.getElementById("renew").hidden = false;
        login.classList.add("over");
    };

    const show = (answer) => {
        switch (answer.status) {
        case "wid": status.textContent = "Your phone has read the code"; break;
        case "user": status.textContent = `Enter the PIN of ${answer.userId} on your phone`; break;
        case "abort": status.textContent = "Your phone has given up"; break;
        case "authenticate": status.textContent = "Logging in"; break;
        default: status.textContent = "Waiting for your phone";
        }
    };

    const tick = () => {
        const seconds = Math.max(0, Math.round((end - Date.now()) / 1000));
        const minutes = Math.floor(seconds / 60);
        remaining.textContent = `Good for ${minutes}:${String(seconds % 60).padStart(2, "0")}`;
    };
    const clock = setInterval(tick, 500);

    const watch = async () => {
        let known = "new";
        while (Date.now() < end) {
            try {
                const answer = await (await post(login.dataset.access, {webOTT: login.dataset.webOtt, wait, status: known})).json();
                known = answer.status;
                show(answer);
                if (answer.status === "expired") break;
                if (answer.status === "authenticate") {
                    // There the form leads to a page that asks who is meant.
                    if ("asks" in login.dataset) return form.submit();
                    const verdict = await post("/mpinAuthenticate", {mpinResponse: {authOTT: answer.authOTT}});
                    if (verdict.ok) return location.replace("/account");
                    return finish("The login was refused");
                }
            } catch {
                status.textContent = "No connection to the server, trying again";
            }
            await sleep(pause);
        }
        finish("This has expired");
    };

    tick();
    watch();
})();
