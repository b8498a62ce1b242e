"use strict";

// Tells how far the phone is and opens the account once it has logged in. Without this script the button of the form
// does the same when it is pressed. All texts are the page's, in its language.
(() => {
    const login = document.getElementById("login");
    const status = document.getElementById("status");
    const remaining = document.getElementById("remaining");
    const renew = document.getElementById("renew");
    const form = login.querySelector("form");
    const end = Date.now() + Number(login.dataset.seconds) * 1000;
    const pause = 1000;
    // The server holds an answer back for so many seconds while nothing changes.
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

    // Something that was wrong is announced, and looks like it; `offersNew`: a way to begin anew.
    const say = (words, isWrong, offersNew) => {
        // A screen reader says again what is written again.
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

    // What the server said to the phone instead of a login.
    const refusals = {401: "wrong-pin", 409: "retired", 410: "blocked", 429: "blocked"};

    // A phone that has been refused may begin again: what it says after that is the news.
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
        // How many refusals this page has seen: only who says so hears of the next.
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
                // There the form leads on: to a page that asks who is meant, or back to where the browser came from.
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
