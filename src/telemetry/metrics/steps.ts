import {
  Counter,
  Histogram,
  type CounterConfiguration,
  type HistogramConfiguration,
  type LabelValues,
} from 'prom-client';

/**
 * The values of a counter or a histogram for one set of labels since the last read. prom-client looks labels up with
 * every observation, which takes longer than all else that a request counts; here they are looked up when the metric is
 * read.
 */
export interface Steps {
  add(amount: number): void;
}

/** Observations that wait to be read; more are passed on at once. */
const OBSERVATIONS_MAX = 1_000;

/** @returns the steps for one set of labels. Call it once for each set, and keep the result. */
export function countSteps<Label extends string>(
  configuration: CounterConfiguration<Label>,
): (labels: LabelValues<Label>) => Steps {
  const all: CounterSteps[] = [];
  const counter = new Counter({ ...configuration, collect: () => all.forEach((steps) => steps.notify()) });
  return (labels) => {
    const steps = new CounterSteps((amount) => counter.inc(labels, amount));
    all.push(steps);
    return steps;
  };
}

/** The same for a histogram, whose steps are observations. */
export function observeSteps<Label extends string>(
  configuration: HistogramConfiguration<Label>,
): (labels: LabelValues<Label>) => Steps {
  const all: Observations[] = [];
  const histogram = new Histogram({ ...configuration, collect: () => all.forEach((steps) => steps.notify()) });
  return (labels) => {
    const steps = new Observations((value) => histogram.observe(labels, value));
    all.push(steps);
    return steps;
  };
}

/** The value under a name, created with the first use. */
export function kept<Value>(map: Map<string, Value>, name: string, make: () => Value): Value {
  const known = map.get(name);
  if (known !== undefined) return known;
  const value = make();
  map.set(name, value);
  return value;
}

class CounterSteps implements Steps {
  readonly #notify: (amount: number) => void;
  #amount = 0;

  constructor(notify: (amount: number) => void) {
    this.#notify = notify;
  }

  add(amount: number): void {
    this.#amount += amount;
  }

  notify(): void {
    if (this.#amount > 0) this.#notify(this.#amount);
    this.#amount = 0;
  }
}

class Observations implements Steps {
  readonly #notify: (value: number) => void;
  #values: number[] = [];

  constructor(notify: (value: number) => void) {
    this.#notify = notify;
  }

  add(value: number): void {
    this.#values.push(value);
    if (this.#values.length >= OBSERVATIONS_MAX) this.notify();
  }

  notify(): void {
    const values = this.#values;
    this.#values = [];
    for (const value of values) this.#notify(value);
  }
}
