import {
  Counter,
  Histogram,
  type CounterConfiguration,
  type HistogramConfiguration,
  type LabelValues,
} from 'prom-client';

/**
 * What a counter or a histogram was told for one set of labels since it was last read. prom-client looks the labels up with
 * every step, for more than the rest of what a request counts; here they are looked up when somebody reads.
 */
export interface Steps {
  add(amount: number): void;
}

/** Observations that wait to be read; then they are told. */
const OBSERVATIONS_MAX = 1_000;

/** @returns the steps for one set of labels. To be asked for once for each set, and kept. */
export function countSteps<Label extends string>(
  configuration: CounterConfiguration<Label>,
): (labels: LabelValues<Label>) => Steps {
  const all: CounterSteps[] = [];
  const counter = new Counter({ ...configuration, collect: () => all.forEach((steps) => steps.tell()) });
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
  const histogram = new Histogram({ ...configuration, collect: () => all.forEach((steps) => steps.tell()) });
  return (labels) => {
    const steps = new Observations((value) => histogram.observe(labels, value));
    all.push(steps);
    return steps;
  };
}

/** The value under a name, made when it is asked for first. */
export function kept<Value>(map: Map<string, Value>, name: string, make: () => Value): Value {
  const known = map.get(name);
  if (known !== undefined) return known;
  const value = make();
  map.set(name, value);
  return value;
}

class CounterSteps implements Steps {
  readonly #tell: (amount: number) => void;
  #amount = 0;

  constructor(tell: (amount: number) => void) {
    this.#tell = tell;
  }

  add(amount: number): void {
    this.#amount += amount;
  }

  tell(): void {
    if (this.#amount > 0) this.#tell(this.#amount);
    this.#amount = 0;
  }
}

class Observations implements Steps {
  readonly #tell: (value: number) => void;
  #values: number[] = [];

  constructor(tell: (value: number) => void) {
    this.#tell = tell;
  }

  add(value: number): void {
    this.#values.push(value);
    if (this.#values.length >= OBSERVATIONS_MAX) this.tell();
  }

  tell(): void {
    const values = this.#values;
    this.#values = [];
    for (const value of values) this.#tell(value);
  }
}
