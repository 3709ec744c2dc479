// Tables whose columns are sorted by their headers.
const sortable = (table) => {
  const heads = [...table.querySelectorAll("thead th")], body = table.tBodies[0];
  heads.forEach((head, column) => head.querySelector("button")?.addEventListener("click", () => {
    const first = head.dataset.first ?? (head.dataset.key === "text" ? "ascending" : "descending");
    const other = first === "ascending" ? "descending" : "ascending";
    const order = head.getAttribute("aria-sort") === first ? other : first, sign = order === "ascending" ? 1 : -1;
    heads.forEach((one) => one.removeAttribute("aria-sort"));
    head.setAttribute("aria-sort", order);
    const key = (row) => row.cells[column].dataset.sort;
    const apart = head.dataset.key === "text" ? (a, b) => key(a).localeCompare(key(b)) : (a, b) => key(a) - key(b);
    const rows = [...body.rows].sort((a, b) => sign * apart(a, b));
    rows.forEach((row, place) => { row.cells[0].textContent = place + 1; });
    body.append(...rows);
  }));
};
