// Filters the table of cases. Without it the page says the same.
(() => {
  const form = document.querySelector(".filter");
  if (!form) return;
  const [text, status, output] = ["input", "select", "output"].map((name) => form.querySelector(name));
  const rows = [...document.querySelectorAll(".cases tbody tr")];
  const words = rows.map((row) => row.textContent.toLowerCase());
  const show = () => {
    const wanted = text.value.trim().toLowerCase().split(/\s+/);
    let n = 0;
    rows.forEach((row, index) => {
      const fits = (!status.value || row.dataset.status === status.value) && wanted.every((word) => words[index].includes(word));
      row.hidden = !fits;
      n += fits;
    });
    output.textContent = n === rows.length ? "" : `${n} of ${rows.length}`;
  };
  form.hidden = false;
  form.addEventListener("input", show);
  form.addEventListener("submit", (event) => event.preventDefault());
  addEventListener("beforeprint", () => document.querySelectorAll(".failure").forEach((one) => (one.open = true)));
})();
