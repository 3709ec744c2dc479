const data = JSON.parse(byId("data").textContent);
if (data.explorer) explorerSection(data);
if (byId("curve")) curvesSection(data);
if (data.calibration?.length) calibrationSection(data);
sections(document.querySelector("nav"));
document.querySelectorAll("table.sortable").forEach(sortable);
