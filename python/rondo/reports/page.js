// SPDX-License-Identifier: BSD-3-Clause
// Draws each figure when it comes into view, and follows the reader's choice of statistic and of spread. On a narrow
// screen, legends get the lines that they need, axes fewer ticks, and tables that are too wide become rows.
"use strict";

const charts = [...document.querySelectorAll(".chart")];
if (!window.Plotly && charts.length > 0) {
  document.getElementById("without").hidden = false;
  document.body.classList.add("bare");
}
const chosen = (name) => document.querySelector(`input[name=${name}]:checked`)?.value; // none on some pages

function apply(traces) {
  const statistic = chosen("statistic"), spread = chosen("spread");
  const hidden = new Set(traces.filter((each) => each.visible === "legendonly").map((each) => each.legendgroup));
  for (const trace of traces) {
    const role = trace.meta && trace.meta.role;
    if (role === "line") trace.y = trace.meta[statistic];
    if (role === "band" || role === "points") {
      trace.visible = role === spread && (hidden.has(trace.legendgroup) ? "legendonly" : true);
    }
  }
  return traces;
}

const LETTER = 7.5, LINE = 19, KEY = 50; // pixels: of a letter, of a line of a legend, of what stands before a name

function fitted(figure, width) {
  const { legend, margin, xaxis, height } = figure.layout;
  const inside = width - margin.l - margin.r;
  const entries = figure.data.filter((each) => each.showlegend !== false);
  const entry = LETTER * Math.max(...entries.map((each) => each.name.length));
  const columns = Math.max(1, Math.floor(inside / (entry + KEY)));
  const lines = entries.length > 1 ? Math.ceil(entries.length / columns) : 0;
  const axis = { ...xaxis, title: { ...xaxis.title, standoff: 8 } };
  if (axis.tickmode === "array") {
    const tick = LETTER * Math.max(...axis.ticktext.map((each) => each.length)) + 12;
    const step = Math.ceil((axis.tickvals.length * tick) / inside);
    const some = (each) => each.filter((_, place) => place % step === 0);
    Object.assign(axis, { tickvals: some(axis.tickvals), ticktext: some(axis.ticktext), tickangle: 0 });
  }
  return { ...figure.layout, xaxis: axis, width, height: height + LINE * lines,
    legend: { ...legend, entrywidth: entry }, margin: { ...margin, b: margin.b + LINE * lines } };
}

function draw(chart) {
  if (chart.data || !window.Plotly) return;
  const figure = JSON.parse(document.getElementById(chart.dataset.figure).textContent);
  const options = { displaylogo: false, displayModeBar: "hover",
    modeBarButtonsToRemove: ["select2d", "lasso2d"], showSendToCloud: false, plotlyServerURL: "",
    toImageButtonOptions: { format: "svg", filename: chart.id } };
  chart.fit = () => {
    const layout = fitted(figure, chart.clientWidth);
    chart.style.height = `${layout.height}px`;
    return layout;
  };
  Plotly.newPlot(chart, apply(figure.data), chart.fit(), options);
}

function turnWideTables() {
  for (const table of document.querySelectorAll(".scroll > table")) {
    table.classList.remove("rows");
    if (table.parentElement.scrollWidth <= table.parentElement.clientWidth + 1) continue;
    const headings = [...table.querySelectorAll("thead th")].map((each) => each.textContent);
    for (const row of table.tBodies[0].rows) {
      [...row.cells].forEach((cell, place) => { cell.dataset.heading = headings[place]; });
    }
    table.classList.add("rows");
  }
}

const observer = new IntersectionObserver(
  (entries) => entries.filter((each) => each.isIntersecting).forEach((each) => draw(each.target)),
  { rootMargin: "600px" });
charts.forEach((chart) => observer.observe(chart));
window.addEventListener("beforeprint", () => charts.forEach(draw));
turnWideTables();
document.querySelectorAll("details").forEach((each) => each.addEventListener("toggle", turnWideTables));
let width = document.body.clientWidth;
window.addEventListener("resize", () => {
  if (document.body.clientWidth === width) return; // a telephone hides its address
  width = document.body.clientWidth;
  turnWideTables();
  charts.filter((chart) => chart.data).forEach((chart) => Plotly.react(chart, chart.data, chart.fit()));
});
document.querySelectorAll(".controls input").forEach((input) => input.addEventListener("change", () => {
  charts.filter((chart) => chart.data).forEach((chart) => {
    apply(chart.data);
    Plotly.react(chart, chart.data, { ...chart.fit(), datarevision: Math.random() });
  });
}));
