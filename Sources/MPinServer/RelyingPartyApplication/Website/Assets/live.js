"use strict";

// Shows how far the phone's login is, and opens the account after the login. Where scripts are disabled, the button of
// the form does this. All texts come from the page, in its language.
(() => {
    const login = document.getElementById("login");
    const status = document.getElementById("status");
    const remaining = document.getElementById("remaining");
    const renew = document.getElementById("renew");
    const form = login.querySelector("form");
    const end = Date.now() + Number(login.dataset.seconds) * 1000;
    const pause = 1000;
    // The server waits at most this many seconds with its answer while nothing changes.
    const wait = 30;
    form.hidden = true;

    const text = (name, values = {}) =>
        login.getAttribute(`data-text-${name}`).replace(/\{\{(\w+)\}\}/g, (_, place) => values[place] ?? "");

    const post = (url, message) => fetch(url, {
        method: "POST",
        headers: {"Content-Type": "application/json"},
        body: JSON.stringify(message),
    });

    const sleep = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));

    // Shows `words` as the status, which screen readers announce. `isWrong`: show it as an error. `offersNew`: show the
    // link to a new start.
    const say = (words, isWrong, offersNew) => {
        // A text that is already there is not written again, because a screen reader would repeat it.
        if (status.textContent !== words) status.textContent = words;
        login.classList.toggle("wrong", isWrong);
        renew.hidden = !offersNew;
    };

    const finish = (name) => {
        clearInterval(clock);
        say(text(name), true, true);
        remaining.textContent = "";
        login.classList.add("over");
        renew.scrollIntoView({block: "nearest"});
    };

    // For each status with which the server has refused the phone, the name of its text.
    const refusals = {401: "wrong-pin", 409: "retired", 410: "blocked", 429: "blocked"};

    // Shows the server's answer. After a refusal the phone may begin again, and its next report replaces the refusal.
    const show = (answer, isRefused) => {
        const refusal = refusals[answer.refusal];
        if (isRefused && refusal !== undefined) return say(text(refusal), true, refusal !== "wrong-pin");
        switch (answer.status) {
        case "wid": return say(text("wid"), false, false);
        case "user": return say(text("user", {user: answer.userId}), false, false);
        case "abort": return say(text("abort"), true, true);
        case "authenticate": return say(text("authenticate"), false, false);
        default: return say(text("waiting"), false, false);
        }
    };

    const tick = () => {
        const seconds = Math.max(0, Math.round((end - Date.now()) / 1000));
        const time = `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
        remaining.textContent = text("remaining", {time});
    };
    const clock = setInterval(tick, 500);

    const open = async (authOTT) => {
        const verdict = await post("/mpinAuthenticate", {mpinResponse: {authOTT}});
        if (verdict.ok) return location.replace("/account");
        return finish("refused");
    };

    const watch = async () => {
        let known = "new";
        // The number of refusals that this page has seen. The server reports further ones only to a page that sends
        // this number.
        let refused = 0;
        let isRefused = false;
        while (Date.now() < end) {
            try {
                const question = {webOTT: login.dataset.webOtt, wait, status: known, refusals: refused};
                const reply = await post(login.dataset.access, question);
                if (!reply.ok) throw new Error(String(reply.status));
                const answer = await reply.json();
                const count = answer.refusals ?? 0;
                isRefused = count > refused || (isRefused && answer.status === known);
                known = answer.status;
                refused = count;
                if (answer.status === "expired") break;
                show(answer, isRefused);
                // The form leads to a page that asks whether the login is the visitor's, or back to the site that sent
                // the visitor here.
                if (answer.status === "abort" && "leaves" in login.dataset) return form.submit();
                if (answer.status === "authenticate" && "asks" in login.dataset) return form.submit();
                if (answer.status === "authenticate") return await open(answer.authOTT);
            } catch {
                say(text("offline"), true, false);
            }
            await sleep(pause);
        }
        finish("expired");
    };

    tick();
    watch();
})();
