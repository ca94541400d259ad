import type { DecisionMethod, DecisionQuestion } from './decisions.ts';

/** How the probabilities of a model were found to be off, by answers that are known. */
export interface Calibration {
  readonly name: string;
  /** Slug. */
  readonly model: string;
  readonly method: DecisionMethod;
  /** By which logarithms are divided: above 1 a model is too sure. Absent: a type that was not fitted stays as it is. */
  readonly temperatures: Readonly<Partial<Record<DecisionQuestion['type'], number>>>;
}
