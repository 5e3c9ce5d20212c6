// The table of wavelets: a filter over names, a choice for each column with few values, and sorting by any column.
// Without scripts, the table is complete and in the order of the catalogue.
(() => {
  const place = document.querySelector(".wavelets");
  if (!place) return;
  const table = place.querySelector("table");
  const body = table.tBodies[0];
  const rows = [...body.rows];
  const heads = [...table.tHead.rows[0].cells];
  const text = (row, column) => row.cells[column].textContent.trim();

  const form = document.createElement("form");
  form.setAttribute("role", "search");
  form.addEventListener("submit", (event) => event.preventDefault());
  const field = (name, control) => {
    const label = document.createElement("label");
    label.append(name, control);
    form.append(label);
    return control;
  };
  const words = field("Name", document.createElement("input"));
  words.type = "search";
  words.placeholder = "db4, bior4.4, …";
  const choices = place.dataset.choices.split(",").map((name) => {
    const column = heads.findIndex((head) => head.textContent === name);
    const select = field(name, document.createElement("select"));
    const values = new Set(rows.map((row) => text(row, column)));
    select.append(new Option("all", ""), ...[...values].map((value) => new Option(value)));
    return { column, select };
  });
  const count = document.createElement("p");
  count.setAttribute("role", "status");
  place.prepend(form, count);

  // Names are in the first two columns.
  const filter = () => {
    const wanted = words.value.trim().toLowerCase();
    let shown = 0;
    for (const row of rows) {
      const named = `${text(row, 0)} ${text(row, 1)}`.toLowerCase().includes(wanted);
      const chosen = choices.every(({ column, select }) => !select.value || text(row, column) === select.value);
      row.hidden = !(named && chosen);
      shown += row.hidden ? 0 : 1;
    }
    count.textContent = `${shown} of ${rows.length} wavelets`;
  };
  form.addEventListener("input", filter);

  // Numbers within text compare as numbers: db2 before db10, 9/7 before 13/7.
  const order = new Intl.Collator("en", { numeric: true }).compare;
  const sort = (head, column) => {
    const descending = head.ariaSort === "ascending";
    heads.forEach((other) => other.removeAttribute("aria-sort"));
    head.setAttribute("aria-sort", descending ? "descending" : "ascending");
    const sorted = rows.toSorted((a, b) => order(text(a, column), text(b, column)) * (descending ? -1 : 1));
    body.append(...sorted);
  };
  heads.forEach((head, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    button.addEventListener("click", () => sort(head, column));
    head.append(button);
  });
  filter();
})();
