"use strict";
// The page is complete without this: it adds sorting, a filter, and the names of lines.
(() => {
  const table = document.getElementById("table");
  if (table) {
    const body = table.tBodies[0], rows = [...body.rows];
    const shown = document.getElementById("shown"), filter = document.getElementById("filter");
    const value = (row, at, text) => {
      const cell = row.cells[at].textContent;
      if (text) return cell;
      const x = parseFloat(cell.replace(/−/g, "-").replace(/,/g, "").replace("∞", "Infinity"));
      return Number.isNaN(x) ? -Infinity : x;
    };
    [...table.tHead.rows[0].cells].forEach((head, at) => {
      if (head.classList.contains("bar")) return;
      const text = head.classList.contains("text"), button = document.createElement("button");
      button.type = "button";
      button.textContent = head.textContent;
      button.title = "Sort by " + head.textContent;
      head.replaceChildren(button);
      button.addEventListener("click", () => {
        const up = head.getAttribute("aria-sort") !== "ascending";
        const keyed = rows.map((row) => [value(row, at, text), row]);
        keyed.sort(([a], [b]) => (text ? a.localeCompare(b, undefined, { numeric: true }) : a - b) * (up ? 1 : -1));
        body.append(...keyed.map(([, row]) => row));
        for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
        head.setAttribute("aria-sort", up ? "ascending" : "descending");
      });
    });
    const apply = () => {
      const part = filter.value.toLowerCase();
      let n = 0;
      for (const row of rows) {
        const on = row.cells[1].textContent.toLowerCase().includes(part);
        row.hidden = !on;
        n += on;
      }
      shown.textContent = n.toLocaleString("en") + " of " + rows.length.toLocaleString("en");
    };
    filter.addEventListener("input", apply);
    document.querySelector(".controls").hidden = false;
    apply();
  }
  const path = document.getElementById("path"), named = document.getElementById("named");
  if (path) {
    named.hidden = false;
    for (const line of path.querySelectorAll(".line")) {
      const name = line.querySelector("title").textContent;
      line.setAttribute("tabindex", "0");
      const show = () => {
        path.querySelectorAll(".line.on").forEach((other) => other.classList.remove("on"));
        line.classList.add("on");
        named.textContent = name;
      };
      line.addEventListener("mouseenter", show);
      line.addEventListener("focus", show);
    }
  }
})();
