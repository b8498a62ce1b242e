"use strict";

// Disables the button until the server would send another mail, and shows the remaining time.
(() => {
    const button = document.getElementById("resend");
    if (button === null) return;
    const text = button.textContent;
    const end = performance.now() + Number(button.dataset.seconds) * 1000;
    const tick = () => {
        const seconds = Math.max(0, Math.ceil((end - performance.now()) / 1000));
        const time = `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
        button.disabled = seconds > 0;
        button.textContent = seconds > 0 ? button.dataset.wait.replace("{{time}}", time) : text;
        if (seconds === 0) clearInterval(clock);
    };
    const clock = setInterval(tick, 500);
    tick();
})();
