/** Prometheus text of one process. */
export interface ProcessMetrics {
  /** Its value of the label `worker`. */
  readonly worker: string;
  readonly text: string;
}

/** They speak of one process each, and get a label that says which. */
const OF_ONE_PROCESS = /^(?:process|nodejs)_|^gateway_(?:event_loop_lag_seconds|resident_memory_bytes)$/;
/** What one process sees that all of them should see: a sum would say nothing. */
const LEAST = /^gateway_shared_state_up$/;
const GREATEST = /^gateway_(?:circuit_open|build_info)$/;

interface Series {
  readonly comments: Set<string>;
  /** Values by name and labels, as they stand in the text. */
  readonly samples: Map<string, number>;
}

type Combine = (one: number, other: number) => number;

/**
 * The metrics of several processes as one text: counters, histograms and gauges are added, by name and labels. What speaks
 * of one process keeps its own series, with the label `worker`.
 */
export function sumMetrics(processes: readonly ProcessMetrics[]): string {
  const all = new Map<string, Series>();
  for (const { worker, text } of processes) {
    let name = '';
    for (const line of text.split('\n')) {
      if (line.startsWith('#')) {
        // `# HELP name text` and `# TYPE name type`.
        name = line.split(' ', 3)[2] ?? '';
        seriesOf(all, name).comments.add(line);
      } else if (line !== '') addSample(seriesOf(all, name).samples, line, name, worker);
    }
  }
  return [...all.values()].map(serializeSeries).join('\n');
}

function seriesOf(all: Map<string, Series>, name: string): Series {
  const known = all.get(name);
  if (known !== undefined) return known;
  const series: Series = { comments: new Set(), samples: new Map() };
  all.set(name, series);
  return series;
}

function addSample(samples: Map<string, number>, line: string, name: string, worker: string): void {
  const end = line.lastIndexOf(' ');
  const plain = line.slice(0, end);
  const key = OF_ONE_PROCESS.test(name) ? withLabel(plain, worker) : plain;
  const value = numberFrom(line.slice(end + 1));
  const before = samples.get(key);
  samples.set(key, before === undefined ? value : combineOf(name)(before, value));
}

function combineOf(name: string): Combine {
  if (LEAST.test(name)) return Math.min;
  return GREATEST.test(name) ? Math.max : (one, other) => one + other;
}

function withLabel(sample: string, worker: string): string {
  const label = `worker="${worker}"`;
  return sample.endsWith('}') ? `${sample.slice(0, -1)},${label}}` : `${sample}{${label}}`;
}

function serializeSeries({ comments, samples }: Series): string {
  const lines = [...samples].map(([sample, value]) => `${sample} ${serializeNumber(value)}`);
  return [...comments, ...lines, ''].join('\n');
}

/** Prometheus writes `+Inf` where JavaScript has `Infinity`. */
function numberFrom(text: string): number {
  return Number(text.replace('Inf', 'Infinity'));
}

function serializeNumber(value: number): string {
  return Number.isFinite(value) || Number.isNaN(value) ? String(value) : value > 0 ? '+Inf' : '-Inf';
}
