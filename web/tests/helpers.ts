import type { AxisData, ChartData, LineData } from "../src/data";

export function axis(log = false): AxisData {
  return { label: "Load γ", symbol: "γ", unit: "", log };
}

export function line(x: number[], y: (number | null)[], more: Partial<LineData> = {}): LineData {
  return { label: "bypass", colour: 0, family: 0, markers: true, analytical: false, x, y, ...more };
}

export function chart(lines: LineData[]): ChartData {
  return { title: "Delay", subtitle: "", x: axis(), y: { ...axis(), unit: "cycles" }, lines };
}
