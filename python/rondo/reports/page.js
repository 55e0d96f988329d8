// SPDX-License-Identifier: BSD-3-Clause
// Draws each figure when it comes into view, and follows the reader's choice of statistic and of spread.
"use strict";

const charts = [...document.querySelectorAll(".chart")];
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

function draw(chart) {
  if (chart.data) return;
  const figure = JSON.parse(document.getElementById(chart.dataset.figure).textContent);
  const options = { responsive: true, displaylogo: false, displayModeBar: "hover",
    modeBarButtonsToRemove: ["select2d", "lasso2d"], showSendToCloud: false, plotlyServerURL: "",
    toImageButtonOptions: { format: "svg", filename: chart.id } };
  Plotly.newPlot(chart, apply(figure.data), figure.layout, options);
}

const observer = new IntersectionObserver(
  (entries) => entries.filter((each) => each.isIntersecting).forEach((each) => draw(each.target)),
  { rootMargin: "600px" });
charts.forEach((chart) => observer.observe(chart));
window.addEventListener("beforeprint", () => charts.forEach(draw));
document.querySelectorAll(".controls input").forEach((input) => input.addEventListener("change", () => {
  charts.filter((chart) => chart.data).forEach((chart) => {
    apply(chart.data);
    Plotly.react(chart, chart.data, { ...chart.layout, datarevision: Math.random() });
  });
}));
